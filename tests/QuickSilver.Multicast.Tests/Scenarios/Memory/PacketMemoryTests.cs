using QuickSilver.Core.Buffers;
using QuickSilver.Multicast.Tests.Infrastructure;

namespace QuickSilver.Multicast.Tests.Scenarios.Memory;

// A node that sends to more regions than it has blocks of packet memory for, some at a time or all at once (I17, I19).
public sealed class PacketMemoryTests
{
    private const int Regions = 60;
    private const ulong Common = 1000;

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void Streams_that_rest_leave_packet_memory_to_those_that_move(bool isReliable)
    {
        var cluster = Running(poolBlocks: 40, isReliable);
        var publisher = cluster[0];
        for (int round = 1; round <= 2; round++)
        {
            for (int region = 1; region <= Regions; region++)
            {
                publisher.PublishAll((ulong)region, 1, 2_000);
                cluster.Simulation.Run(TimeSpan.FromMilliseconds(20));
            }

            Assert.All(cluster.Hosts.Skip(1), host => Assert.Equal(round, host.Log.Count));
        }

        // What best-effort topics still say of their end.
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        Assert.InRange(publisher.Node.Environment.Buffers.LeasedBlocks, 1, 21);
    }

    [Theory]
    [InlineData(true, 1)]
    [InlineData(true, 100_000)]
    [InlineData(false, 1)]
    public void A_message_that_goes_to_many_regions_waits_until_there_are_blocks_for_all(bool isReliable, int bytes)
    {
        const int Messages = 40;
        int most = 1 + (bytes / 60_000);
        var cluster = Running(poolBlocks: (Regions * most * 3 / 2) + 50, isReliable);
        var publisher = cluster[0];
        for (int region = 1; region <= Regions; region += 2)
        {
            publisher.PublishAll((ulong)region, 1, 10);
        }

        publisher.PublishAll(Common, Messages, bytes);

        Assert.True(cluster.RunUntil(() => cluster.Hosts.Skip(1).All(host =>
            host.SequencesOf(publisher.Key, Common).Count() == Messages)));
        Assert.All(cluster.Hosts.Skip(1), host => MulticastCluster.AssertRun(host, publisher, Common, 1, Messages));
    }

    // As when what was received holds it: nothing of this node's own is on the way whose end would show it.
    [Fact]
    public void A_publisher_that_found_no_memory_continues_when_others_leave_it()
    {
        var cluster = new MulticastCluster(seed: 3, nodes: 2, poolBlocks: 24);
        cluster[0].Publishes(Common);
        cluster[1].Subscribes(Common);
        cluster.Commit();
        var memory = cluster[0].Node.Environment.Buffers;
        var held = new List<Lease>();
        cluster[0].OnCore(() =>
        {
            while (memory.TryRent() is { } lease)
            {
                held.Add(lease);
            }
        });
        cluster[0].PublishAll(Common, 1, 100);
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        Assert.Empty(cluster[1].Log);

        cluster[0].OnCore(() => held.ForEach(lease => lease.Release()));
        Assert.True(cluster.RunUntil(() => cluster[1].Log.Count == 1, seconds: 5));
    }

    // Each subscriber wants the common topic and one of its own: as many regions as subscribers.
    private static MulticastCluster Running(int poolBlocks, bool isReliable)
    {
        var cluster = new MulticastCluster(seed: 3, Regions + 1, poolBlocks: poolBlocks);
        cluster[0].Publishes(Common, isReliable);
        for (int i = 1; i <= Regions; i++)
        {
            cluster[0].Publishes((ulong)i, isReliable);
            cluster[i].Subscribes((ulong)i, isReliable);
            cluster[i].Subscribes(Common, isReliable);
        }

        cluster.Commit();
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        return cluster;
    }
}
