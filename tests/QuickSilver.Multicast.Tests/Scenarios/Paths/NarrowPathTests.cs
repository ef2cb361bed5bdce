using QuickSilver.Multicast.Tests.Infrastructure;
using QuickSilver.Simulation;

namespace QuickSilver.Multicast.Tests.Scenarios.Paths;

// How paths are checked while a stream sends packets so small that nothing else shows a narrow path.
public sealed class NarrowPathTests
{
    private const ulong Topic = 5;
    private static readonly TimeSpan Between = TimeSpan.FromMilliseconds(10);

    [Fact]
    public void A_path_is_checked_once_a_second()
    {
        const int Seconds = 20;
        var cluster = Cluster(new LinkModel());
        Publish(cluster, Seconds);
        Assert.InRange(cluster[0].Multicast.Counters.PathProbes, Seconds - 2, Seconds + 2);
    }

    [Fact]
    public void The_size_of_a_narrow_path_is_found_although_replies_take_half_a_second()
    {
        var cluster = Cluster(new LinkModel { Delay = TimeSpan.FromMilliseconds(250) });
        Publish(cluster, seconds: 3);
        cluster[1].Node.Faults.InboundLargestBytes = 1252;
        Publish(cluster, seconds: 3);
        Assert.Equal(1252, cluster[0].Multicast.Counters.SmallestPathBytes);
    }

    [Fact]
    public void A_dead_node_makes_no_path_narrow()
    {
        var cluster = Cluster(new LinkModel());
        Publish(cluster, seconds: 2);
        cluster[1].Node.Crash();
        Publish(cluster, seconds: 5);
        Assert.Equal(0, cluster[0].Multicast.Counters.SmallPaths);
    }

    [Fact]
    public void Paths_to_members_that_came_and_went_are_forgotten()
    {
        const int Passing = 40;
        var cluster = new MulticastCluster(1, 2 + Passing);
        cluster[0].Publishes(Topic);
        cluster[1].Subscribes(Topic);
        for (int i = 0; i < Passing; i++)
        {
            var passing = cluster[2 + i];
            passing.Subscribes(Topic);
            cluster.Commit();
            cluster.Simulation.Run(TimeSpan.FromSeconds(1));
            Publish(cluster, seconds: 2);
            Assert.Equal(2, cluster[0].Multicast.KnownPaths);
            passing.Node.Crash();
            cluster.Service.Remove(passing.Key);
            cluster.Simulation.Run(TimeSpan.FromSeconds(1));
            Assert.Equal(1, cluster[0].Multicast.KnownPaths);
        }
    }

    [Fact]
    public void A_narrow_path_is_forgotten_with_its_node_and_found_again_by_the_next_one_there()
    {
        var cluster = Cluster(new LinkModel());
        cluster[1].Node.Faults.InboundLargestBytes = 1252;
        Publish(cluster, seconds: 3);
        Assert.Equal(1, cluster[0].Multicast.Counters.SmallPaths);
        cluster[1].Node.Crash();
        cluster.Service.Remove(cluster[1].Key);
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        Assert.Equal((0, 0), (cluster[0].Multicast.Counters.SmallPaths, cluster[0].Multicast.KnownPaths));
        Assert.Equal(cluster.Options.PacketBytes, cluster[0].Multicast.Counters.SmallestPathBytes);

        var next = cluster.Restart(1);
        next.Node.Faults.InboundLargestBytes = 1252;
        next.Subscribes(Topic);
        cluster.Commit();
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        Publish(cluster, seconds: 3);
        Assert.Equal(1252, cluster[0].Multicast.Counters.SmallestPathBytes);
    }

    private static MulticastCluster Cluster(LinkModel link)
    {
        var cluster = new MulticastCluster(1, 2, link);
        cluster[0].Publishes(Topic);
        cluster[1].Subscribes(Topic);
        cluster.Commit();
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        return cluster;
    }

    private static void Publish(MulticastCluster cluster, int seconds)
    {
        for (var gone = TimeSpan.Zero; gone < TimeSpan.FromSeconds(seconds); gone += Between)
        {
            cluster[0].PublishAll(Topic, 1, 100);
            cluster.Simulation.Run(Between);
        }
    }
}
