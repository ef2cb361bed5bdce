using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Tests.Infrastructure;
using QuickSilver.Simulation;

namespace QuickSilver.Multicast.Tests.Scenarios.Rings;

// Views of so many members that their rings stand in a hierarchy and each keeps but a part (I1, I2, I17, I19).
public sealed class HierarchyTests
{
    [Theory]
    [InlineData(40, 5, 16)]
    [InlineData(40, 2, 3)]
    [InlineData(12, 1, 2)]
    public void Everything_is_delivered_acknowledged_and_let_go_over_a_lossy_network(int nodes, int replicas, int ringSize)
    {
        var cluster = Running(nodes, new RepairRules(replicas, ringSize), new LinkModel { Loss = 0.02 });
        cluster[0].PublishAll(1, 2_000, 700);

        Assert.True(cluster.RunUntil(() => cluster.Hosts.Skip(1).All(host => host.Log.Count == 2_000)));
        Assert.True(cluster.RunUntil(() => cluster[0].Multicast.Readings.UnackedBytes == 0));
        Assert.All(cluster.Hosts.Skip(1), host => MulticastCluster.AssertRun(host, cluster[0], 1, 1, 2_000));
        Assert.True(cluster.RunUntil(() => cluster.Hosts.All(host =>
            host.Multicast.Regions.All(region => region.Streams.All(stream => stream.Stable == stream.Highest)))));
    }

    [Fact]
    public void A_member_that_is_silent_is_passed_over_and_the_others_gaps_are_known_and_filled_meanwhile()
    {
        var cluster = Running(20, new RepairRules(5, 16), new LinkModel { Loss = 0.05 });
        cluster.Simulation.Nodes[7].Crash();
        cluster[0].PublishAll(1, 100, 700);

        var others = cluster.Hosts.Skip(1).Where(host => host.Node.Number != 7).ToList();
        Assert.True(cluster.RunUntil(() => others.All(host => host.Log.Count == 100), seconds: 5));
        // It has not reported what it holds, so nothing is let go before the membership service has decided.
        Assert.True(cluster[0].Multicast.Readings.UnackedBytes > 0);
        cluster.Service.Remove(cluster[7].Key);
        Assert.True(cluster.RunUntil(() => cluster[0].Multicast.Readings.UnackedBytes == 0));
    }

    // The member left out may be one with the sender later, in another cluster, and ask it for what it lacks (I2).
    [Theory]
    [InlineData(10, 16, 3)]
    [InlineData(10, 16, 4)]
    [InlineData(40, 3, 3)]
    [InlineData(40, 3, 4)]
    [InlineData(40, 3, 13)]
    [InlineData(40, 3, 0)]
    public void A_round_without_a_member_settles_nothing_before_all_in_the_ring_have_heard_of_its_removal(
        int nodes, int ringSize, int firstToHear)
    {
        const int Gone = 5;
        var cluster = Running(nodes, new RepairRules(2, ringSize), link: null);
        var sender = cluster[nodes - 1];
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(200));
        cluster.Simulation.Nodes[Gone].Crash(silently: true);
        var early = cluster[firstToHear].Multicast;
        cluster[firstToHear].OnCore(() => early.OnConfiguration(new ConfigurationChange
        {
            Number = early.Configuration + 1,
            IsSnapshot = false,
            Removed = [cluster[Gone].Key],
        }));
        sender.PublishAll(1, 10, 100);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(500));
        Assert.True(sender.Multicast.Readings.UnackedBytes > 0);
        var left = cluster.Hosts.Where(host => host.Node.Number != Gone);
        Assert.All(left, host => Assert.Equal(0, host.Multicast.Regions.First().Streams[0].Stable));

        cluster.Service.Remove(cluster[Gone].Key);
        Assert.True(cluster.RunUntil(() => sender.Multicast.Readings.UnackedBytes == 0, seconds: 5));
    }

    [Fact]
    public void Leaders_of_all_levels_may_die_at_once()
    {
        int[] leaders = [0, 1, 2, 6, 12];
        var cluster = Running(40, new RepairRules(2, 3), new LinkModel { Loss = 0.02 });
        cluster[39].PublishAll(1, 4_000, 700);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(10));
        foreach (int leader in leaders)
        {
            cluster.Simulation.Nodes[leader].Crash();
        }

        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        cluster.Service.Remove([.. leaders.Select(leader => cluster[leader].Key)]);
        var left = cluster.Hosts.Where(host => !leaders.Contains(host.Node.Number)).ToList();
        Assert.True(cluster.RunUntil(() => left.All(host => host.Log.Count == 4_000)));
        Assert.True(cluster.RunUntil(() => cluster[39].Multicast.Readings.UnackedBytes == 0));
    }

    [Fact]
    public void A_member_keeps_only_its_part_of_what_all_keepers_hold_and_some_members_lack()
    {
        var cluster = Running(20, new RepairRules(5, 16), new LinkModel { Loss = 0.05 });
        long kept = 0;
        long dropped = 0;
        for (int i = 0; i < 300; i++)
        {
            cluster[0].PublishAll(1, 10, 1_400);
            cluster.Simulation.Run(TimeSpan.FromMilliseconds(1));
            foreach (var host in cluster.Hosts.Skip(1))
            {
                var region = host.Multicast.Regions.First();
                foreach (var stream in region.Streams)
                {
                    for (long n = stream.Stable + 1; n <= Math.Min(stream.Consumed, stream.Replicated); n++)
                    {
                        bool isHeld = stream.TryGetPacket(n, host.Key, TimeSpan.Zero, out _);
                        Assert.Equal(region.Keepers.KeeperOf(n) == region.OwnPartition, isHeld);
                        kept += isHeld ? 1 : 0;
                        dropped += isHeld ? 0 : 1;
                    }
                }
            }
        }

        Assert.True(kept > 0 && dropped > 2 * kept, $"{kept} kept, {dropped} dropped");
    }

    [Fact]
    public void A_sender_that_gets_reports_in_ranges_keeps_only_what_a_member_lacks()
    {
        const int Unlucky = 39;
        var options = new MulticastOptions { ClusterId = 7, Experiments = new() { FeedbackRanges = 10 } };
        var cluster = Running(40, new RepairRules(2, 3), link: null, options);
        bool isBlocked = true;
        cluster.Simulation.Network.Filter = (link, packet) => isBlocked
            && link.To.Number == Unlucky
            && new PacketHeader(packet) is { Kind: PacketKind.Data, Sequence: >= 3 and <= 5 };
        cluster[0].PublishAll(1, 200, 1_400);
        var stream = cluster[0].Multicast.Streams.Single();

        Assert.True(cluster.RunUntil(() => stream is { Acknowledged: 2, Pending: 3 }, seconds: 5), $"{stream.Pending} pending");
        Assert.InRange(cluster[0].Multicast.Readings.UnackedBytes, 1, 3 * cluster.Options.PacketBytes);
        isBlocked = false;
        Assert.True(cluster.RunUntil(() => cluster.Hosts.Skip(1).All(host => host.Log.Count == 200)));
        Assert.True(cluster.RunUntil(() => cluster[0].Multicast.Readings.UnackedBytes == 0 && stream.Pending == 0));
    }

    private static MulticastCluster Running(int nodes, RepairRules repair, LinkModel? link, MulticastOptions? options = null)
    {
        var cluster = new MulticastCluster(seed: 5, nodes, link, options) { Service = { Repair = repair } };
        foreach (var host in cluster.Hosts)
        {
            host.Publishes(1);
            host.Subscribes(1);
        }

        cluster.Commit();
        return cluster;
    }
}
