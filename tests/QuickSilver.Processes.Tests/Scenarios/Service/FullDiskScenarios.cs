using System.Globalization;
using System.Net;
using QuickSilver.Processes.Tests.Harness;
using QuickSilver.Processes.Tests.Lab.Machine;
using QuickSilver.Processes.Tests.Lab.Network;

namespace QuickSilver.Processes.Tests.Scenarios.Service;

// The disk with the state of a service is full when the service starts again. It leads on from what its nodes report, and says so. I7, I9.
public sealed class FullDiskScenarios : IDisposable
{
    private const int Service = 1;
    private const int Publisher = 4;
    private static readonly int[] Members = [2, 3];

    // A disk of four pages, in the mount namespace that `ip netns exec` makes for the command alone. A line of the input kills the service
    // and starts it again, when the disk is full.
    private const string Lives = """
        mount -t tmpfs -o size=16k qs "$1" || exit 75
        "$0" gms --listen "$2" --state "$1/state" &
        first=$!
        read -r line
        kill -KILL "$first"
        wait "$first"
        head -c 1M /dev/zero > "$1/other"
        cat "$1/state"
        exec "$0" gms --listen "$2" --state "$1/state" --verbose
        """;

    private readonly NetworkNamespaces _network = NetworkNamespaces.Create(Publisher);
    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("qs-disk-");
    private readonly ImpairedSwitch _switch;
    private readonly List<NodeProcess> _processes = [];

    public FullDiskScenarios()
    {
        _switch = new ImpairedSwitch(_network, seed: 1);
        _switch.SetAll(Impairment.None);
    }

    private string At => new IPEndPoint(_network.Address(Service), QsmCluster.ServicePort).ToString();

    public void Dispose()
    {
        _processes.ForEach(static process => process.Dispose());
        _switch.Dispose();
        _network.Dispose();
        _folder.Delete(recursive: true);
    }

    [Fact]
    public void A_service_that_starts_again_on_a_full_disk_leads_on_from_what_its_nodes_report_and_says_so()
    {
        var service = Add(NodeProcess.Start(_network, Service, "/bin/sh", "-c", Lives, Programs.Qsm, _folder.FullName, At));
        service.WaitForErrors(static errors => errors.Text().Contains("listening", StringComparison.Ordinal), "it to listen");
        NodeProcess[] members = [.. Members.Select(node => Run(node, "sub", "t", "--wait", "--verbose"))];
        Array.ForEach(members, QsmCluster.WaitUntilReady);
        Publish("before", members);

        service.Feed("again\n");
        service.WaitForErrors(
            static errors => errors.Text().Contains("cannot be written: No space left on device", StringComparison.Ordinal),
            "the full disk");
        Publish("after", members);
        Assert.Contains("continues from what returning nodes report", service.Errors.Text(), StringComparison.Ordinal);
        // Of the first life: what the second one could not write.
        Assert.True(long.Parse(service.Output.Text(), CultureInfo.InvariantCulture) > 0);
        Assert.All(members, static member =>
        {
            Assert.False(member.HasExited, member.Report());
            Assert.Equal("before\nafter\n", member.Output.Text());
        });
    }

    private void Publish(string text, NodeProcess[] members)
    {
        var publisher = Run(Publisher, "pub", "t", "--receivers", $"{members.Length}");
        publisher.Feed($"{text}\n");
        publisher.CloseInput();
        publisher.ExpectExit(0);
        foreach (var member in members)
        {
            member.WaitForOutput(output => output.Text().Contains(text, StringComparison.Ordinal), "the message");
        }
    }

    private NodeProcess Run(int node, params string[] arguments) => Add(NodeProcess.Start(
        _network, node, Programs.Qsm, [.. arguments, "--gms", At, "--interface", $"{_network.Address(node)}"]));

    private NodeProcess Add(NodeProcess process)
    {
        _processes.Add(process);
        return process;
    }
}
