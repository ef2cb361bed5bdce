using QuickSilver.Core.Wire;
using QuickSilver.Multicast.Tests.Infrastructure;
using QuickSilver.Simulation;
using static QuickSilver.Multicast.Tests.Infrastructure.TopicInRegions;

namespace QuickSilver.Multicast.Tests.Scenarios;

// A topic in several regions with an address of its own: the first transmission goes there once, and everything else is per region.
public sealed class HybridTests
{
    [Fact]
    public void A_message_is_sent_once_for_all_regions_of_its_topic()
    {
        var cluster = Running(seed: 1);
        Publish(cluster, 1_000);

        var counters = cluster[0].Multicast.Counters;
        Assert.True(counters.SharedPacketsSent > 100, $"{counters.SharedPacketsSent} shared packets");
        Assert.Equal(counters.SharedPacketsSent * (Regions - 1), counters.SendsSaved);
        Assert.InRange(counters.PacketsSent - counters.SharedPacketsSent, Regions, Regions * 2);
        Assert.Equal(0, Repairs(cluster));
        Assert.All(Receivers(cluster), host => Assert.Equal(counters.SharedPacketsSent, host.Multicast.Counters.SharedPacketsReceived));
    }

    [Fact]
    public void A_topic_without_an_address_is_sent_into_each_region()
    {
        var cluster = Running(seed: 1, hasAddress: false);
        Publish(cluster, 1_000);

        Assert.Equal(0, cluster[0].Multicast.Counters.SharedPacketsSent);
        Assert.Equal(0, cluster[0].Multicast.Counters.SendsSaved);
    }

    [Fact]
    public void A_region_without_a_group_needs_no_send_for_each_of_its_members()
    {
        var cluster = Cluster(seed: 2);
        cluster.Service.HasGroups = false;
        Start(cluster);
        Publish(cluster, 1_000);

        var counters = cluster[0].Multicast.Counters;
        Assert.True(counters.SharedPacketsSent > 100, $"{counters.SharedPacketsSent} shared packets");
        Assert.Equal(counters.SharedPacketsSent * ((Regions * MembersOfRegion) - 1), counters.SendsSaved);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public void A_shared_packet_that_one_region_has_lost_is_repaired_there(int region)
    {
        var cluster = Running(seed: 3);
        Publish(cluster, 10);
        int lost = 0;
        cluster.Simulation.Network.Filter = (link, datagram) =>
        {
            bool drops = lost < MembersOfRegion && KindOf(datagram) == PacketKind.Shared && RegionOf(link.To.Number) == region;
            lost += drops ? 1 : 0;
            return drops;
        };
        Publish(cluster, 500);

        Assert.Equal(MembersOfRegion, lost);
        Assert.True(Repairs(cluster) > 0);
        Assert.All(
            Receivers(cluster).Where(host => RegionOf(host.Node.Number) != region),
            host => Assert.Equal(0, host.Multicast.Counters.PullsSent));
    }

    [Fact]
    public void Shared_packets_that_all_regions_have_lost_are_repaired_in_each()
    {
        var cluster = Running(seed: 4);
        Publish(cluster, 10);
        int lost = 0;
        cluster.Simulation.Network.Filter = (_, datagram) =>
        {
            bool drops = lost < NodeCount - 1 && KindOf(datagram) == PacketKind.Shared;
            lost += drops ? 1 : 0;
            return drops;
        };
        Publish(cluster, 500);

        Assert.Equal(NodeCount - 1, lost);
        Assert.Equal(500 + 10, Receivers(cluster).Min(host => host.Log.Count));
    }

    // The last packet: nothing that comes later shows that it is missing.
    [Fact]
    public void A_shared_packet_that_all_have_lost_before_silence_is_repaired()
    {
        var cluster = Running(seed: 5);
        Publish(cluster, 10);
        cluster.Simulation.Network.Filter = (_, datagram) => KindOf(datagram) == PacketKind.Shared;

        Publish(cluster, 1);
    }

    [Fact]
    public void A_region_whose_window_stays_closed_holds_the_others_no_longer_than_its_own_packets_fill_a_run()
    {
        var cluster = Running(seed: 6);
        Publish(cluster, 10);
        var closed = cluster[0].Multicast.Streams[0].View.RegionId;
        cluster.Simulation.Network.Filter = (_, datagram) =>
            KindOf(datagram) == PacketKind.Ack && new PacketHeader(datagram).Region == closed;
        int slow = Receivers(cluster).First(host => host.Multicast.Regions.Any(region => region.View.RegionId == closed)).Node.Number;
        cluster[0].PublishAll(Topic, 3_000, 1_000);
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        var others = Receivers(cluster).Where(host => RegionOf(host.Node.Number) != RegionOf(slow)).ToList();
        int window = cluster[slow].Log.Count;
        Assert.InRange(window, 100, 2_999);
        Assert.All(others, host => Assert.True(host.Log.Count > window, $"{host.Log.Count} and {window}"));

        cluster.Simulation.Network.Filter = null;
        Assert.True(cluster.RunUntil(() => Receivers(cluster).All(host => host.Log.Count == 3_010)), Counts(cluster));
        AssertRuns(cluster, 3_010);
        long before = cluster[0].Multicast.Counters.SharedPacketsSent;
        Publish(cluster, 500);
        Assert.True(cluster[0].Multicast.Counters.SharedPacketsSent > before);
    }

    [Theory]
    [InlineData(7)]
    [InlineData(8)]
    [InlineData(9)]
    public void Views_may_change_while_messages_are_sent(ulong seed)
    {
        var cluster = Running(seed);
        cluster[0].PublishAll(Topic, 6_000, Bytes);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(3));
        // A member moves to another region, one leaves the topic, and a topic's regions become two.
        cluster[1].Unsubscribes(10);
        cluster.Commit();
        cluster[4].Unsubscribes(Topic);
        cluster.Commit();
        cluster[8].Subscribes(10);
        cluster.Commit();

        var staying = Receivers(cluster).Where(host => host != cluster[4]).ToList();
        Assert.True(cluster.RunUntil(() => staying.All(host => host.Log.Count == 6_000)), Counts(cluster));
        Assert.All(staying, host => MulticastCluster.AssertRun(host, cluster[0], Topic, 2, 6_001));
        Assert.True(cluster[0].Multicast.Counters.SharedPacketsSent > 0);
    }

    [Theory]
    [InlineData(10)]
    [InlineData(11)]
    [InlineData(12)]
    public void An_address_may_be_given_and_withdrawn_while_messages_are_sent(ulong seed)
    {
        var cluster = Running(seed, hasAddress: false);
        cluster[0].PublishAll(Topic, 20_000, Bytes);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(2));
        for (int i = 0; i < 4; i++)
        {
            cluster.Service.GiveAddress(Topic);
            cluster.Commit();
            cluster.Service.Addresses.Clear();
            cluster.Commit();
        }

        cluster.Service.GiveAddress(Topic);
        cluster.Commit();
        Assert.True(cluster.RunUntil(() => Receivers(cluster).All(host => host.Log.Count == 20_000)), Counts(cluster));
        AssertRuns(cluster, 20_000);
        Assert.True(cluster.RunUntil(() => Receivers(cluster).All(host => host.Multicast.Context.Receiving.TopicPorts!.Count == 1)));
        cluster[0].PublishAll(Topic, 100, Bytes);
        Assert.True(cluster.RunUntil(() => Receivers(cluster).All(host => host.Log.Count == 20_100)), Counts(cluster));
        Assert.True(cluster[0].Multicast.Counters.SharedPacketsSent > 0);
    }

    [Fact]
    public void The_first_messages_are_not_shared_until_all_have_confirmed_the_configuration_with_the_address()
    {
        var cluster = Running(seed: 13, hasAddress: false);
        Publish(cluster, 10);
        cluster.Simulation.Network.Filter = null;
        cluster.Service.GiveAddress(Topic);
        cluster.Service.Commit();
        cluster[5].Node.Pause(TimeSpan.FromMilliseconds(200));
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(20));
        Assert.Equal(cluster[0].Multicast.Configuration, cluster[0].Membership.Applied);
        cluster[0].PublishAll(Topic, 5, Bytes);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(20));
        Assert.Equal(0, cluster[0].Multicast.Counters.SharedPacketsSent);

        Assert.True(cluster.RunUntil(() => Receivers(cluster).All(host => host.Log.Count == 15)), Counts(cluster));
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(50));
        Publish(cluster, 10, total: 25);
        Assert.True(cluster[0].Multicast.Counters.SharedPacketsSent > 0);
    }

    [Theory]
    [InlineData(17, 0.01)]
    [InlineData(18, 0.05)]
    [InlineData(19, 0.2)]
    public void Everything_arrives_in_order_although_packets_are_lost(ulong seed, double loss)
    {
        var cluster = Cluster(seed, new LinkModel { Loss = loss });
        Start(cluster);
        Publish(cluster, 3_000);
        Assert.True(cluster[0].Multicast.Counters.SharedPacketsSent > 0);
    }

    [Theory]
    [InlineData(576, 100)]
    [InlineData(576, 3_000)]
    [InlineData(1472, 20_000)]
    [InlineData(1472, 200_000)]
    [InlineData(8972, 50_000)]
    public void Messages_of_any_size_and_lists_that_need_several_packets_arrive(int packetBytes, int messageBytes)
    {
        const int Many = 30;
        var options = new MulticastOptions { ClusterId = 7, PacketBytes = packetBytes };
        var cluster = new MulticastCluster(20, 1 + Many, options: options);
        cluster[0].Publishes(Topic);
        for (int i = 1; i <= Many; i++)
        {
            cluster[i].Subscribes(Topic);
            cluster[i].Subscribes(100 + (ulong)i);
        }

        cluster.Service.GiveAddress(Topic);
        cluster.Commit();
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(20));
        Publish(cluster, 1);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(50));
        cluster[0].PublishAll(Topic, 100, messageBytes);
        Assert.True(cluster.RunUntil(() => cluster.Hosts.Skip(1).All(host => host.Log.Count == 101)));
        Assert.All(cluster.Hosts.Skip(1), host => MulticastCluster.AssertRun(host, cluster[0], Topic, 1, 101));
        Assert.Equal(messageBytes < 100_000, cluster[0].Multicast.Counters.SharedPacketsSent > 0);
    }

    // A large message is sent into each region. Before the run in the streams, receivers would hold it for the run's messages, and would
    // not read all of them: a stream is read no more than 32 packets beyond one that is held.
    [Fact]
    public void A_message_that_does_not_fit_into_a_run_does_not_overtake_the_run_that_is_packed()
    {
        const int RunOf36Packets = 50;
        var cluster = Running(seed: 29);
        cluster[0].PublishAll(Topic, RunOf36Packets, 1_000);
        cluster[0].PublishAll(Topic, 1, 200_000);

        Assert.True(cluster.RunUntil(() => Receivers(cluster).All(host => host.Log.Count == RunOf36Packets + 1)), Counts(cluster));
        AssertRuns(cluster, RunOf36Packets + 1);
    }

    [Fact]
    public void A_best_effort_topic_is_shared_too()
    {
        var cluster = Cluster(seed: 21, reliable: false);
        Start(cluster);
        Publish(cluster, 10);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        Publish(cluster, 1_000, total: 1_010);
        Assert.True(cluster[0].Multicast.Counters.SharedPacketsSent > 100);
    }

    // A message that does not fit into a run goes into each region. Its packets and the run's may come in any order.
    [Fact]
    public void A_best_effort_topic_reports_nothing_as_lost_because_large_messages_overtake_small_ones()
    {
        var cluster = Cluster(seed: 28, reliable: false);
        Start(cluster);
        Publish(cluster, 10);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        for (int i = 0; i < 200; i++)
        {
            cluster[0].PublishAll(Topic, 1 + (i % 3), i % 2 == 0 ? Bytes : 100_000);
            cluster.Simulation.Run(TimeSpan.FromMilliseconds(i % 5));
        }

        cluster.Simulation.Run(TimeSpan.FromSeconds(5));
        Assert.True(cluster[0].Multicast.Counters.SharedPacketsSent > 10);
        Assert.All(Receivers(cluster), host => Assert.Empty(host.Gaps));
        AssertRuns(cluster, cluster[0].Published.Count - 1);
    }

    [Fact]
    public void Where_a_node_sends_by_unicast_only_nothing_is_shared()
    {
        var cluster = Cluster(seed: 22, options: new MulticastOptions { ClusterId = 7, Unicast = true });
        Start(cluster);
        Publish(cluster, 1_000);
        Assert.Equal(0, cluster[0].Multicast.Counters.SharedPacketsSent);
        Assert.All(cluster.Hosts, host => Assert.Equal(0, host.Multicast.Context.Receiving.TopicPorts!.Count));
    }

    [Fact]
    public void Ordinary_topics_of_the_same_regions_keep_their_order_beside_a_shared_one()
    {
        var cluster = Cluster(seed: 23);
        cluster[0].Publishes(10);
        Start(cluster);
        cluster[0].PublishAll(10, 3_000, Bytes);
        Publish(cluster, 3_000);
        var both = cluster.Hosts.Skip(1).Take(MembersOfRegion).ToList();
        Assert.True(cluster.RunUntil(() => both.All(host => host.Log.Count == 6_000)), Counts(cluster));
        Assert.All(both, host => MulticastCluster.AssertRun(host, cluster[0], 10, 1, 3_000));
        Assert.True(cluster[0].Multicast.Counters.SharedPacketsSent > 100);
    }

    [Fact]
    public void One_seed_is_one_run()
    {
        Assert.Equal(Trace(), Trace());

        static string Trace()
        {
            var cluster = Cluster(24, new LinkModel { Loss = 0.02 });
            Start(cluster);
            Publish(cluster, 2_000);
            return string.Join(' ', cluster.Hosts.Select(host =>
                $"{host.Multicast.Counters.PacketsReceived}/{host.Multicast.Counters.RepairsSent}/{host.Multicast.Counters.TokensSent}"))
                + $" {cluster.Simulation.Now} {cluster[0].Multicast.Counters.SharedPacketsSent}";
        }
    }
}
