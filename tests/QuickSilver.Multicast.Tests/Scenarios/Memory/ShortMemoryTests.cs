using QuickSilver.Core.Wire;
using QuickSilver.Multicast.Tests.Infrastructure;
using QuickSilver.Simulation;

namespace QuickSilver.Multicast.Tests.Scenarios.Memory;

// What was received and is not stable would fill all packet memory: a gap, more senders than there is memory for (I17, I19, I22).
public sealed class ShortMemoryTests
{
    private const ulong Topic = 1;
    private const int LeastBlocks = 512;
    private static readonly LinkModel TenGigabit = new() { BytesPerSecond = 1_250_000_000 };

    [Theory]
    [InlineData(2, LeastBlocks, 100)]
    [InlineData(4, LeastBlocks, 100)]
    [InlineData(8, LeastBlocks, 20)]
    public void A_gap_that_lasts_stops_no_sender_permanently(int senders, int blocks, int milliseconds)
    {
        const int Messages = 60_000;
        var cluster = Running(senders, blocks, TenGigabit);
        var victim = cluster[senders].Node;
        var until = cluster.Simulation.Now + TimeSpan.FromMilliseconds(50 + milliseconds);
        cluster.Simulation.Network.Filter = (link, datagram) => link.To == victim && cluster.Simulation.Now < until
            && IsData(datagram, sequence: 5000);

        AssertAllArrives(cluster, senders, Messages);
    }

    [Theory]
    [InlineData(4, LeastBlocks, 0, 0)]
    [InlineData(4, LeastBlocks, 0.01, 0)]
    [InlineData(4, LeastBlocks, 0.001, 50)]
    [InlineData(16, LeastBlocks, 0.01, 0)]
    public void Senders_at_full_speed_continue_with_the_least_memory(int senders, int blocks, double loss, int pauseMilliseconds)
    {
        var cluster = Running(senders, blocks, TenGigabit with { Loss = loss });
        if (pauseMilliseconds > 0)
        {
            cluster[senders].Node.Pause(TimeSpan.FromMilliseconds(pauseMilliseconds));
        }

        AssertAllArrives(cluster, senders, messages: 160_000 / senders);
    }

    private static bool IsData(ReadOnlySpan<byte> datagram, long sequence)
    {
        if (datagram.Length < PacketHeader.Bytes)
        {
            return false;
        }

        var header = new PacketHeader(datagram);
        return header.Kind == PacketKind.Data && header.Sequence == sequence;
    }

    private static MulticastCluster Running(int senders, int blocks, LinkModel link)
    {
        var cluster = new MulticastCluster(seed: 5, senders + 2, link, poolBlocks: blocks);
        for (int i = 0; i < senders; i++)
        {
            cluster[i].Publishes(Topic);
        }

        cluster[senders].Subscribes(Topic);
        cluster[senders + 1].Subscribes(Topic);
        cluster.Commit();
        return cluster;
    }

    private static void AssertAllArrives(MulticastCluster cluster, int senders, int messages)
    {
        for (int i = 0; i < senders; i++)
        {
            cluster[i].PublishAll(Topic, messages, 1000);
        }

        Assert.True(
            cluster.RunUntil(() => cluster.Hosts.Skip(senders).All(host => host.Log.Count == senders * messages), seconds: 60),
            string.Join("; ", cluster.Hosts.Skip(senders).Select(host =>
                $"{host.Log.Count} of {senders * messages}, {host.Node.Environment.Buffers.LeasedBlocks} blocks leased")));
        for (int i = 0; i < senders; i++)
        {
            MulticastCluster.AssertRun(cluster[senders], cluster[i], Topic, 1, messages);
        }
    }
}
