using QuickSilver.Multicast.Tests.Infrastructure;

namespace QuickSilver.Multicast.Tests.Scenarios.Readers;

// A reader that waits holds its own topic's senders back, and nothing else (I17, I22, I24).
public sealed class SlowReaderTests
{
    private const ulong Slow = 1;
    private const ulong Other = 2;
    private const ulong Busy = 3;

    [Theory]
    [InlineData(100)]
    [InlineData(1_000)]
    [InlineData(100_000)]
    public void A_reader_that_does_not_read_does_not_hold_another_topic_of_its_sender(int bytes)
    {
        var cluster = Running(out var slow);
        slow.IsFull = true;
        cluster[0].PublishAll(Slow, 1_000_000, bytes);
        cluster.Simulation.Run(TimeSpan.FromSeconds(5));
        long sent = cluster[0].Published.Count;

        cluster[0].PublishAll(Other, 2_000, 1_000);
        Assert.True(cluster.RunUntil(() => Count(cluster[1], Other) == 2_000 && Count(cluster[2], Other) == 2_000, seconds: 2));

        cluster.Simulation.Run(TimeSpan.FromSeconds(20));
        Assert.Equal(sent + 2_000, cluster[0].Published.Count);
        Assert.Equal(0, Count(cluster[1], Slow));
        Assert.InRange(cluster[1].Multicast.Context.Parking.Bytes, 1, cluster[1].Multicast.Context.Options.ParkedBytesOfTopic);
    }

    [Fact]
    public void A_reader_that_comes_back_after_minutes_misses_nothing()
    {
        const int Messages = 30_000;
        var cluster = Running(out var slow);
        slow.IsFull = true;
        cluster[0].PublishAll(Slow, Messages, 1_000);
        cluster.Simulation.Run(TimeSpan.FromMinutes(3));
        Assert.InRange(cluster[0].Published.Count, 1, Messages - 1);
        Assert.Equal((cluster[1].Key, Slow), WaitsFor(cluster[0], Slow));
        var untaken = Assert.Single(cluster[1].ReceiverOf(Slow).Untaken());
        Assert.Equal((cluster[0].Key, 1L), (untaken.Sender, untaken.First));
        Assert.InRange(untaken.Last, 100, cluster[0].Published.Count);

        slow.IsFull = false;
        cluster[1].Resume(Slow);
        Assert.True(cluster.RunUntil(() => Count(cluster[1], Slow) == Messages && Count(cluster[2], Slow) == Messages, seconds: 10));
        MulticastCluster.AssertRun(cluster[1], cluster[0], Slow, 1, Messages);
        MulticastCluster.AssertRun(cluster[2], cluster[0], Slow, 1, Messages);
        cluster.Simulation.Run(TimeSpan.FromSeconds(5));
        Assert.Equal(0, cluster[1].Multicast.Context.Parking.Bytes);
        Assert.Equal(0, cluster[0].Multicast.CreditLimits.Count);
        Assert.Empty(cluster[1].Multicast.Topics.SlowReaders.Blocked);
    }

    [Fact]
    public void A_sender_continues_as_soon_as_the_reader_reads_again_and_not_when_its_limit_is_forgotten()
    {
        var cluster = Running(out var slow);
        slow.IsFull = true;
        cluster[0].PublishAll(Slow, 1_000_000, 1_000);
        cluster.Simulation.Run(TimeSpan.FromSeconds(5));
        int before = cluster[0].Published.Count;

        slow.IsFull = false;
        cluster[1].Resume(Slow);
        Assert.True(cluster.RunUntil(() => cluster[0].Published.Count > before, seconds: 0.1));
    }

    // Room comes and goes at each step; the credit for it is lost, doubled and comes late.
    [Theory]
    [InlineData(1, 0.0)]
    [InlineData(2, 0.05)]
    [InlineData(3, 0.2)]
    public void A_reader_with_room_only_sometimes_gets_all_in_order(ulong seed, double loss)
    {
        const int Messages = 3_000;
        var link = new Simulation.LinkModel { Loss = loss, Duplicate = loss, Jitter = TimeSpan.FromMilliseconds(2) };
        var cluster = Running(out var slow, seed, link);
        int room = 10;
        slow.OnReceived = _ => slow.IsFull = --room == 0;
        cluster[0].PublishAll(Slow, Messages, 1_000);
        cluster[0].PublishAll(Other, Messages, 1_000);
        for (int i = 0; i < 2_000 && Count(cluster[1], Slow) < Messages; i++)
        {
            cluster.Simulation.Run(TimeSpan.FromMilliseconds(7));
            room = 10;
            slow.IsFull = false;
            cluster[1].Resume(Slow);
        }

        MulticastCluster.AssertRun(cluster[1], cluster[0], Slow, 1, Messages);
        MulticastCluster.AssertRun(cluster[1], cluster[0], Other, 1, Messages);
        Assert.True(cluster.RunUntil(() => Count(cluster[2], Slow) == Messages));
    }

    [Fact]
    public void A_slow_reader_that_leaves_or_dies_lets_its_senders_continue()
    {
        const int Messages = 40_000;
        var cluster = Running(out var slow);
        slow.IsFull = true;
        cluster[0].PublishAll(Slow, Messages, 1_000);
        cluster.Simulation.Run(TimeSpan.FromSeconds(5));
        Assert.InRange(Count(cluster[2], Slow), 1, Messages - 1);

        cluster[1].OnCore(() => cluster[1].Unsubscribes(Slow));
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(1));
        cluster.Commit();
        Assert.True(cluster.RunUntil(() => Count(cluster[2], Slow) == Messages, seconds: 10));
    }

    // Where there is no place for what is on the way either, the packets themselves wait, as a last resort.
    [Fact]
    public void Without_room_to_park_nothing_is_lost()
    {
        const int Messages = 20_000;
        var cluster = Running(out var slow, options: Parking(10_000));
        slow.IsFull = true;
        cluster[0].PublishAll(Slow, Messages, 1_000);
        cluster.Simulation.Run(TimeSpan.FromSeconds(5));
        Assert.InRange(cluster[1].Multicast.Context.Parking.Bytes, 1, 10_000);

        slow.IsFull = false;
        cluster[1].Resume(Slow);
        Assert.True(cluster.RunUntil(() => Count(cluster[1], Slow) == Messages, seconds: 10));
        MulticastCluster.AssertRun(cluster[1], cluster[0], Slow, 1, Messages);
    }

    // The views of a topic with a waiting reader stay open; the start tables of others do not fill for that.
    [Fact]
    public void Subscribers_that_come_and_go_elsewhere_do_not_stop_a_topic_beside_one_with_a_waiting_reader()
    {
        var cluster = WaitingBesideBusy(out _, messages: 100_000);
        cluster[2].OnCore(() => cluster[2].Unsubscribes(Slow));
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(1));
        cluster.Commit();
        for (int i = 1; i <= 100; i++)
        {
            bool subscribes = i % 2 != 0;
            cluster[5].OnCore(() => Toggle(cluster[5], Busy, subscribes));
            cluster.Simulation.Run(TimeSpan.FromMilliseconds(1));
            cluster.Commit();
            cluster[3].PublishAll(Busy, 1, 100);
            cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        }

        Assert.Equal(100, Count(cluster[4], Busy));
    }

    [Fact]
    public void A_waiting_reader_keeps_the_views_open_that_it_has_not_read_and_no_others()
    {
        var cluster = WaitingBesideBusy(out var slow, messages: 20_000);
        for (int i = 1; i <= 40; i++)
        {
            // In turn a new view of the slow topic's region and of the busy one's.
            ulong[] topics = i % 2 == 0 ? [Busy] : [Slow, Other];
            bool subscribes = (i - 1) % 4 < 2;
            cluster[5].OnCore(() => Array.ForEach(topics, topic => Toggle(cluster[5], topic, subscribes)));
            cluster.Simulation.Run(TimeSpan.FromMilliseconds(1));
            cluster.Commit();
            cluster[3].PublishAll(Busy, 1, 100);
            cluster.Simulation.Run(TimeSpan.FromMilliseconds(500));
        }

        cluster.Simulation.Run(TimeSpan.FromSeconds(3));
        Assert.InRange(OldViews(cluster[1]), 1, 2);
        // All that was sent is held by the members, so no sender waits in an old view.
        Assert.InRange(cluster.Service.Members.Max(member => member.StillOpen.Length), 0, 1);
        Assert.Equal(0, OldViews(cluster[4]));
        Assert.Equal(40, Count(cluster[4], Busy));

        slow.IsFull = false;
        cluster[1].Resume(Slow);
        Assert.True(cluster.RunUntil(() => Count(cluster[1], Slow) == 20_000, seconds: 10));
        MulticastCluster.AssertRun(cluster[1], cluster[0], Slow, 1, 20_000);
        cluster.Simulation.Run(TimeSpan.FromSeconds(5));
        Assert.All(cluster.Service.Members, member => Assert.Empty(member.StillOpen));
        Assert.Equal(0, OldViews(cluster[1]));
    }

    // A reader that waits with hardly any room to park, and a topic that shares no node with it.
    private static MulticastCluster WaitingBesideBusy(out Host.Sink slow, int messages)
    {
        var cluster = Running(out slow, options: Parking(10_000), nodes: 6);
        cluster[3].Publishes(Busy);
        cluster[4].Subscribes(Busy);
        slow.IsFull = true;
        cluster.Commit();
        cluster[0].PublishAll(Slow, messages, 1_000);
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        return cluster;
    }

    private static void Toggle(Host host, ulong topic, bool subscribes)
    {
        if (subscribes)
        {
            host.Subscribes(topic);
        }
        else
        {
            host.Unsubscribes(topic);
        }
    }

    private static int OldViews(Host host) => host.Multicast.Regions.Count(region => region.SupersededAt != 0);

    private static MulticastOptions Parking(long bytes) => new() { ClusterId = 7, ParkedBytes = bytes, ParkedBytesOfTopic = bytes };

    private static MulticastCluster Running(
        out Host.Sink slow, ulong seed = 9, Simulation.LinkModel? link = null, MulticastOptions? options = null, int nodes = 3)
    {
        var cluster = new MulticastCluster(seed, nodes, link, options);
        cluster[0].Publishes(Slow);
        cluster[0].Publishes(Other);
        slow = cluster[1].Subscribes(Slow);
        cluster[1].Subscribes(Other);
        cluster[2].Subscribes(Slow);
        cluster[2].Subscribes(Other);
        cluster.Commit();
        return cluster;
    }

    private static int Count(Host host, ulong topic) => host.Log.Count(one => one.Topic == topic);

    private static (Membership.Views.NodeKey, ulong)? WaitsFor(Host sender, ulong topic) =>
        sender.Multicast.CreditLimits.SlowestOf(topic) is { } slowest ? (slowest.Member, topic) : null;
}
