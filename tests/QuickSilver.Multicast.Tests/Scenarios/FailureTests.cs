using QuickSilver.Core.Transport;
using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Stability.Tokens;
using QuickSilver.Multicast.Tests.Infrastructure;
using QuickSilver.Multicast.Views;
using QuickSilver.Simulation;

namespace QuickSilver.Multicast.Tests.Scenarios;

// Crashes, pauses and partitions (I1 to I4, I10, I11, I19 under F3, F4, F6).
public sealed class FailureTests
{
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void When_a_member_crashes_the_others_get_everything_and_the_sender_continues_once_it_is_removed(int crashed)
    {
        var cluster = Running(11, new LinkModel { Loss = 0.05 });
        cluster[0].PublishAll(1, 20_000, 500);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(20));
        var gone = cluster[crashed].Key;
        cluster.Simulation.Nodes[crashed].Crash();
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        cluster.Service.Remove(gone);

        var left = cluster.Hosts.Skip(1).Where(host => host.Key != gone).ToList();
        Assert.True(cluster.RunUntil(() => left.All(host => host.Log.Count >= 20_000)));

        Assert.All(left, host => MulticastCluster.AssertRun(host, cluster[0], 1, 1, 20_000));
        Assert.All(left, host => Assert.Empty(host.Gaps));
    }

    [Fact]
    public void When_the_sender_crashes_the_survivors_agree_on_what_they_deliver()
    {
        for (ulong seed = 1; seed <= 20; seed++)
        {
            var cluster = Running(seed, new LinkModel { Loss = 0.3 });
            cluster[0].PublishAll(1, 5_000, 500);
            cluster.Simulation.Run(TimeSpan.FromMilliseconds(2 + seed));
            var sender = cluster[0].Key;
            cluster.Simulation.Nodes[0].Crash();
            cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
            cluster.Service.Remove(sender);
            cluster.Simulation.Run(TimeSpan.FromSeconds(5));

            var first = cluster[1].SequencesOf(sender, 1).ToList();
            Assert.NotEmpty(first);
            Assert.All(cluster.Hosts.Skip(2), host => Assert.Equal(first, host.SequencesOf(sender, 1)));
            Assert.All(cluster.Hosts.Skip(1), host => MulticastCluster.AssertRun(host, cluster[0], 1, 1));
        }
    }

    // A member hears nothing of an older view for a while, neither data nor tokens, while its sender continues in a newer one and dies.
    [Fact]
    public void Packets_of_an_older_view_do_not_count_as_lost_before_its_ring_could_report_them()
    {
        var cluster = new MulticastCluster(seed: 12, nodes: 4);
        var (sender, deaf) = (cluster[0], cluster[2]);
        sender.Publishes(1);
        cluster[1].Subscribes(1);
        deaf.Subscribes(1);
        cluster.Commit();
        sender.PublishAll(1, 10, 100);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(200));
        var old = sender.Multicast.Streams.Single().View;
        cluster.Simulation.Network.Filter = (link, packet) => link.To == deaf.Node
            && new PacketHeader(packet) is { Kind: not PacketKind.Ack } header && header.View == old.Number;
        sender.PublishAll(1, 10, 100);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(10));
        cluster[3].Subscribes(1);
        cluster.Commit();
        sender.PublishAll(1, 10, 100);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(200));
        cluster.Simulation.Nodes[0].Crash();
        cluster.Service.Remove(sender.Key);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(500));
        Assert.Equal(10, deaf.Log.Count);
        cluster.Simulation.Network.Filter = null;

        Assert.True(cluster.RunUntil(() => deaf.Log.Count == 30));
        Assert.Empty(deaf.Gaps);
        MulticastCluster.AssertRun(deaf, sender, 1, 1, 30);
    }

    // No member has one packet of the older view; what came behind it is so much that most is not read before that is known.
    [Fact]
    public void Unread_messages_behind_a_loss_in_an_older_view_go_before_those_of_a_newer_one()
    {
        const int Lost = 5;
        var cluster = new MulticastCluster(seed: 13, nodes: 4);
        var sender = cluster[0];
        sender.Publishes(1);
        cluster[1].Subscribes(1);
        cluster[2].Subscribes(1);
        cluster.Commit();
        sender.PublishAll(1, 1, 1_400);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(200));
        var old = sender.Multicast.Streams.Single().View;
        cluster.Simulation.Network.Filter = (_, packet) => new PacketHeader(packet) is { Kind: PacketKind.Data, Sequence: Lost } header
            && header.View == old.Number;
        sender.PublishAll(1, 199, 1_400);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(20));
        cluster[3].Subscribes(1);
        cluster.Commit();
        sender.PublishAll(1, 10, 1_400);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(200));
        cluster.Simulation.Nodes[0].Crash();
        cluster.Service.Remove(sender.Key);

        foreach (var member in cluster.Hosts.Skip(1).Take(2))
        {
            Assert.True(cluster.RunUntil(() => member.SequencesOf(sender.Key, 1).LastOrDefault() == 210));
            var gap = Assert.Single(member.Gaps);
            Assert.Equal(TopicGapReason.SenderGone, gap.Reason);
            Assert.InRange(gap.First, Lost - 2, Lost);
            Assert.InRange(gap.Last, gap.First, Lost + 1);
            Assert.Equal(210 - (gap.Last - gap.First + 1), member.Log.Count);
        }
    }

    [Fact]
    public void A_restarted_member_gets_what_is_published_from_its_view_on()
    {
        var cluster = Running(5, null);
        cluster[0].PublishAll(1, 1_000, 200);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(500));
        var old = cluster[2].Key;
        cluster.Simulation.Nodes[2].Crash();
        cluster.Service.Remove(old);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        var again = cluster.Restart(2);
        again.Subscribes(1);
        cluster.Commit();
        cluster[0].PublishAll(1, 1_000, 200);

        Assert.True(cluster.RunUntil(() => again.Log.Count >= 1_000));

        MulticastCluster.AssertRun(again, cluster[0], 1, 1_001, 2_000);
        MulticastCluster.AssertRun(cluster[1], cluster[0], 1, 1, 2_000);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(2)]
    public void A_pause_of_any_node_costs_time_and_no_message(int paused)
    {
        var cluster = Running(6, new LinkModel { Loss = 0.02 });
        cluster[0].PublishAll(1, 10_000, 500);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(10));
        cluster.Simulation.Nodes[paused].Pause(TimeSpan.FromSeconds(3));

        Assert.True(cluster.RunUntil(() => cluster.Hosts.Skip(1).All(host => host.Log.Count >= 10_000)));

        Assert.All(cluster.Hosts.Skip(1), host => MulticastCluster.AssertRun(host, cluster[0], 1, 1, 10_000));
    }

    [Fact]
    public void A_partition_that_heals_costs_time_and_no_message()
    {
        var cluster = Running(7, null);
        cluster[0].PublishAll(1, 10_000, 500);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(5));
        cluster.Simulation.Network.Partition([0, 1], [2, 3]);
        cluster.Simulation.Run(TimeSpan.FromSeconds(4));
        cluster.Simulation.Network.Reconnect();

        Assert.True(cluster.RunUntil(() => cluster.Hosts.Skip(1).All(host => host.Log.Count >= 10_000)));

        Assert.All(cluster.Hosts.Skip(1), host => MulticastCluster.AssertRun(host, cluster[0], 1, 1, 10_000));
    }

    [Fact]
    public void A_silent_member_is_reported_by_the_ring()
    {
        var cluster = Running(8, null);
        var silent = cluster[2].Key;
        cluster.Simulation.Nodes[2].Crash(silently: true);
        cluster[0].PublishAll(1, 10, 100);
        cluster.Simulation.Run(TimeSpan.FromSeconds(20));

        Assert.Contains(silent, cluster[1].Membership.Suspects);
        Assert.DoesNotContain(cluster[3].Key, cluster[1].Membership.Suspects);
    }

    // It has given up the others in the old view, and reports what it holds alone.
    [Fact]
    public void A_member_that_was_removed_and_is_back_acknowledges_nothing_for_the_others()
    {
        var cluster = Running(9, null);
        var (sender, away) = (cluster[0], cluster[1]);
        cluster.Simulation.Nodes[2].Pause(TimeSpan.FromSeconds(5));
        sender.PublishAll(1, 10, 100);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(500));
        var view = sender.Multicast.Streams[0].View;
        cluster.Service.Remove(away.Key);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        sender.OnCore(() => sender.Multicast.OnConfiguration(new ConfigurationChange
        {
            Number = sender.Multicast.Configuration + 1,
            IsSnapshot = false,
            Joined = [new NodeInfo(away.Key, away.Membership.EndPoint, 9, 9)],
        }));

        Acknowledge(away, view, sender, GoneMark.Of(away.Key));
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        Assert.True(sender.Multicast.Readings.UnackedBytes > 0);

        // One that was not away may.
        Acknowledge(cluster[3], view, sender, GoneMark.Of(away.Key));
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        Assert.Equal(0, sender.Multicast.Readings.UnackedBytes);
    }

    // The member left out may be one with the sender later, in another cluster, and ask it for what it lacks.
    [Fact]
    public void An_acknowledgement_that_leaves_out_a_member_counts_when_the_sender_has_heard_of_its_removal_too()
    {
        var cluster = Running(10, null);
        var (sender, removed) = (cluster[0], cluster[2]);
        cluster.Simulation.Nodes[2].Pause(TimeSpan.FromSeconds(5));
        sender.PublishAll(1, 10, 100);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(500));
        var view = sender.Multicast.Streams[0].View;

        Acknowledge(cluster[3], view, sender, GoneMark.Of(removed.Key));
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(10));
        Assert.True(sender.Multicast.Readings.UnackedBytes > 0);

        cluster.Service.Remove(removed.Key);
        Assert.True(cluster.RunUntil(() => sender.Multicast.Readings.UnackedBytes == 0));
    }

    private static void Acknowledge(Host from, RegionView view, Host sender, ulong gone) => from.OnCore(() =>
    {
        var packet = new byte[AggregateAck.Bytes];
        var template = new PacketTemplate(7, from.Key.Id, from.Key.Incarnation, view.RegionId, view.Number);
        long last = sender.Multicast.Streams[0].Last;
        var ack = new AggregateAck(sender.Key, last, last, last, KernelDrops: 0, ReceiveBufferBytes: 1 << 20, gone);
        ack.Write(packet, template);
        var port = from.Node.Environment.OpenPort(new DatagramPortOptions(), new Deaf());
        port.Send(packet, packet.Length, new DatagramAddress(sender.Membership.EndPoint));
    });

    private sealed class Deaf : IDatagramReceiver
    {
        public bool IsControl(ReadOnlySpan<byte> firstBytes) => false;

        public void OnRun(in ReceivedRun run)
        {
        }

        public void OnBatchEnd()
        {
        }
    }

    private static MulticastCluster Running(ulong seed, LinkModel? link)
    {
        var cluster = new MulticastCluster(seed, 4, link);
        cluster[0].Publishes(1);
        foreach (var host in cluster.Hosts.Skip(1))
        {
            host.Subscribes(1);
        }

        cluster.Commit();
        return cluster;
    }
}
