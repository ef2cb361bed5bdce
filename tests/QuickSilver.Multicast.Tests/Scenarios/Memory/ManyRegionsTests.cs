using QuickSilver.Core.Buffers;
using QuickSilver.Multicast.Tests.Infrastructure;

namespace QuickSilver.Multicast.Tests.Scenarios.Memory;

// A topic that lies in many regions, as each of its subscribers has another topic besides: a message takes packet memory for each.
public sealed class ManyRegionsTests
{
    private const int Regions = 24;

    [Fact]
    public void The_largest_message_that_packet_memory_can_take_goes_to_all_regions_and_a_larger_one_is_known_to_be_too_large()
    {
        var cluster = Cluster(poolBlocks: 256);
        long most = cluster[0].Sender(1).MostBytes;
        Assert.InRange(most, 1, 256 * SlabPool.BlockBytes / Regions);

        cluster[0].PublishAll(1, 20, (int)most);
        Assert.True(cluster.RunUntil(() => cluster.Hosts.Skip(1).All(host => host.Log.Count == 20), seconds: 60));

        cluster[0].OnCore(() => Assert.False(cluster[0].Publish(1, (int)most + 1)));
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        cluster[0].PublishAll(1, 5, 100);
        Assert.True(cluster.RunUntil(() => cluster.Hosts.Skip(1).All(host => host.Log.Count == 25), seconds: 60));
    }

    [Fact]
    public void With_more_regions_than_blocks_no_message_goes_and_no_publisher_waits_for_room()
    {
        var cluster = Cluster(poolBlocks: 24);
        Assert.True(cluster[0].Sender(1).MostBytes < 0);
        cluster[0].OnCore(() =>
        {
            Assert.False(cluster[0].Publish(1, 0));
            Assert.True(cluster[0].Sender(1).AwaitRoom());
        });
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        Assert.Equal(1, cluster[0].Refused);
    }

    [Fact]
    public void One_region_takes_any_message()
    {
        var cluster = new MulticastCluster(3, nodes: 2);
        cluster[0].Publishes(1);
        cluster[1].Subscribes(1);
        cluster.Commit();
        Assert.Equal(long.MaxValue, cluster[0].Sender(1).MostBytes);
    }

    private static MulticastCluster Cluster(int poolBlocks)
    {
        var cluster = new MulticastCluster(1, nodes: Regions + 1, poolBlocks: poolBlocks);
        cluster[0].Publishes(1);
        for (int i = 1; i <= Regions; i++)
        {
            cluster[i].Subscribes(1);
            cluster[i].Subscribes((ulong)(100 + i));
        }

        cluster.Commit();
        Assert.Equal(Regions, cluster[0].Multicast.Streams.Count);
        return cluster;
    }
}
