using System.Net;
using System.Net.Sockets;
using QuickSilver.Processes.Tests.Harness;
using QuickSilver.Processes.Tests.Lab.Machine;

namespace QuickSilver.Processes.Tests.Scenarios.Network;

// Another program of a node's machine has the port of a group, so that the system refuses it.
public sealed class HeldPortScenarios
{
    private const int GroupPort = 21_007;

    [Fact]
    public void A_subscriber_whose_group_port_is_held_gets_every_line_and_hears_the_group_when_it_is_free()
    {
        var first = TestLines.Make(ScenarioSize.Lines / 2);
        var second = TestLines.Make(ScenarioSize.Lines / 2, first: ScenarioSize.Lines / 2);
        using var cluster = new QsmCluster(4, service: ["--group-ports", $"{GroupPort}-{GroupPort}"]);
        var hears = new[] { cluster.Subscribe(2, "lines"), cluster.Subscribe(3, "lines") };
        using var holder = NamespaceThread.Run(cluster.Network.Name(4), Hold);
        var deaf = cluster.Subscribe(4, "lines");
        deaf.WaitForErrors(e => e.Text().Contains("The system refuses the group", StringComparison.Ordinal), "its warning");
        var publisher = cluster.Join(1, "pub", "lines");
        publisher.Feed(TestLines.Join(first));
        Wait([.. hears, deaf], first.Length);

        holder.Dispose();
        publisher.Feed(TestLines.Join(second));
        publisher.CloseInput();
        publisher.ExpectExit(0);
        Wait([.. hears, deaf], first.Length + second.Length);
        foreach (var subscriber in hears.Append(deaf))
        {
            subscriber.Send(ProcessSignal.Interrupt);
            subscriber.ExpectExit(0);
            Assert.Equal(TestLines.Join([.. first, .. second]), subscriber.Output.Text());
        }

        Assert.All(hears, subscriber => Assert.DoesNotContain("refuses", subscriber.Errors.Text(), StringComparison.Ordinal));
    }

    // At all addresses and without SO_REUSEADDR.
    private static Socket Hold()
    {
        var socket = new Socket(AddressFamily.InterNetwork, SocketType.Dgram, ProtocolType.Udp);
        socket.Bind(new IPEndPoint(IPAddress.Any, GroupPort));
        return socket;
    }

    private static void Wait(IEnumerable<NodeProcess> processes, int lines)
    {
        foreach (var process in processes)
        {
            process.WaitForOutput(o => o.LineCount >= lines, $"{lines} lines");
        }
    }
}
