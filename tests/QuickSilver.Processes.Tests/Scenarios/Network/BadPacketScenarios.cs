using System.Net;
using System.Net.Sockets;
using QuickSilver.Processes.Tests.Harness;
using QuickSilver.Processes.Tests.Lab.Machine;
using QuickSilver.Processes.Tests.Lab.Network;

namespace QuickSilver.Processes.Tests.Scenarios.Network;

// A stranger on the network sends a thousand bad packets a second, made from what he overhears, and bothers the
// membership service: what is published arrives as ever. I1, I2, I3, I17 under F10 and F18; T5, T9, T10.
public sealed class BadPacketScenarios
{
    private const int Stranger = 4;
    private const int PacketsPerTick = 10;
    private static readonly TimeSpan Tick = TimeSpan.FromMilliseconds(10);

    [Fact]
    public async Task Bad_packets_disturb_nothing()
    {
        var half = ScenarioSize.Lines / 2;
        using var cluster = new QsmCluster(Stranger);
        var census = cluster.Switch.Census = new UdpCensus();
        var subscribers = new[] { cluster.Subscribe(2, "lines"), cluster.Subscribe(3, "lines") };
        var publisher = cluster.Join(1, "pub", "lines");
        publisher.Feed(TestLines.Join(TestLines.Make(half)));
        WaitForLines(subscribers, half);
        var overheard = census.LatestDatagrams();
        Assert.Contains(overheard, s => s.IsMulticast);
        cluster.Switch.Census = null;

        var attack = Task.Run(() => AttackAsync(cluster, overheard));
        for (var line = half; line < 2 * half; line += 10)
        {
            publisher.Feed(TestLines.Join(TestLines.Make(Math.Min(10, (2 * half) - line), first: line)));
        }

        WaitForLines(subscribers, 2 * half);
        var sent = await attack;
        publisher.CloseInput();
        publisher.ExpectExit(0);
        foreach (var subscriber in subscribers)
        {
            subscriber.Send(ProcessSignal.Interrupt);
            subscriber.ExpectExit(0);
            Assert.Equal(TestLines.Join(TestLines.Make(2 * half)), subscriber.Output.Text());
        }

        Assert.True(sent >= ScenarioSize.Seconds * 100, $"the attack was too weak to judge: {sent} packets");
        Assert.True(cluster.Switch.Counters(Stranger, 2).Forwarded >= sent / 4, "the attack did not reach its victims");
    }

    private static async Task<int> AttackAsync(QsmCluster cluster, IReadOnlyList<UdpSample> overheard)
    {
        using var socket = cluster.Network.Run(
            Stranger, () => new Socket(AddressFamily.InterNetwork, SocketType.Dgram, ProtocolType.Udp));
        var address = cluster.Network.Address(Stranger);
        socket.Bind(new IPEndPoint(address, 0));
        socket.SetSocketOption(SocketOptionLevel.IP, SocketOptionName.MulticastInterface, address.GetAddressBytes());
        var random = new Random(20_26);
        var sent = 0;
        using var timer = new PeriodicTimer(Tick);
        for (var ticks = ScenarioSize.Seconds * 100; ticks > 0; ticks--)
        {
            for (var i = 0; i < PacketsPerTick; i++, sent++)
            {
                var sample = overheard[random.Next(overheard.Count)];
                socket.SendTo(BadPacket.From(sample.Payload, random), sample.Destination);
            }

            if (ticks % 50 == 0)
            {
                BotherTheService(cluster, random);
            }

            await timer.WaitForNextTickAsync();
        }

        return sent;
    }

    // The service may close at once: what it does with such a client is its own affair.
    private static void BotherTheService(QsmCluster cluster, Random random)
    {
        using var socket = cluster.Network.Run(
            Stranger, () => new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp));
        try
        {
            socket.ConnectSoon(new IPEndPoint(cluster.Network.Address(1), QsmCluster.ServicePort));
            socket.Send(BadPacket.Noise(random, 2000));
        }
        catch (SocketException)
        {
        }
    }

    private static void WaitForLines(IEnumerable<NodeProcess> processes, int lines)
    {
        foreach (var process in processes)
        {
            process.WaitForOutput(o => o.LineCount >= lines, $"{lines} lines");
        }
    }
}
