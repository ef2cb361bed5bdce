using QuickSilver.Core.Environment;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Ordering;
using QuickSilver.Multicast.Tests.Infrastructure;
using QuickSilver.Simulation;

namespace QuickSilver.Multicast.Tests.Scenarios.Memory;

// The heap refuses memory to a node that sends (I1 to I4, I22). A message has no number before there is memory for all that it needs, so
// no subscriber waits for one that is never sent, and none gets one twice.
public sealed class SenderShortageTests
{
    // To the regions of both subscribers, and to that of the second one.
    private const ulong Both = 1;
    private const ulong One = 2;
    private const int Messages = 200;

    [Theory]
    [InlineData(1.0, false)]
    [InlineData(0.5, false)]
    [InlineData(1.0, true)]
    [InlineData(0.5, true)]
    public void While_tables_of_a_sender_cannot_grow_its_messages_wait_and_then_all_come_once_and_in_order(double share, bool hasAddress)
    {
        var random = new Random(5);
        int refused = 0;
        var cluster = Start(hasAddress);
        Heap(cluster).Refuses = (use, _) => use == HeapUse.SenderTables && random.NextDouble() < share && ++refused > 0;
        SendAll(cluster);
        cluster.Simulation.Run(TimeSpan.FromSeconds(share < 1 ? 20 : 4));

        Assert.True(refused > 0, "nothing was refused");
        Assert.InRange(cluster[0].Multicast.Counters.HeapRefusals, 1, refused);
        Heap(cluster).Refuses = null;
        AssertAllCame(cluster, $"{share}");
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Each_growth_in_turn_is_refused_once_and_nothing_is_lost_or_sent_twice(bool hasAddress)
    {
        int inAll = 0;
        var calm = Start(hasAddress);
        Heap(calm).Refuses = (use, _) => use == HeapUse.SenderTables && ++inAll < 0;
        SendAll(calm);
        AssertAllCame(calm, "nothing refused");
        Assert.InRange(inAll, 4, int.MaxValue);
        for (int refusedAt = 1; refusedAt <= inAll; refusedAt++)
        {
            int asked = 0;
            var cluster = Start(hasAddress);
            Heap(cluster).Refuses = (use, _) => use == HeapUse.SenderTables && ++asked == refusedAt;
            SendAll(cluster);
            AssertAllCame(cluster, $"refused {refusedAt} of {inAll}");
        }
    }

    // As a feed does: it has one observer for all messages of a turn, when they have their numbers.
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_message_makes_room_for_the_observer_of_those_that_were_taken(bool hasAddress)
    {
        var cluster = Start(hasAddress);
        var observer = new CountingObserver();
        SendAll(cluster, observer);
        Assert.True(cluster.RunUntil(() => observer.Stable == Messages, 60), $"{observer.Stable} of {Messages} are stable");
        Assert.Equal(0, observer.Tight);
        Assert.Equal(Messages, cluster[1].Log.Count);
    }

    // Its reader has no memory for one message, and is refused at each try.
    [Fact]
    public void A_node_that_is_refused_memory_for_what_it_receives_continues_to_send()
    {
        const ulong Received = 7;
        var cluster = Start(hasAddress: false);
        cluster[1].Publishes(Received);
        cluster[0].Subscribes(Received).Throws = static () => new OutOfMemoryException("a test");
        cluster.Commit();
        cluster[1].PublishAll(Received, 1, 100);
        cluster.Simulation.Run(TimeSpan.FromSeconds(5));
        Assert.True(cluster[0].Multicast.Counters.HeapRefusals > 1, "nothing was refused");

        cluster[0].PublishAll(Both, 5, 100);
        Assert.True(cluster.RunUntil(() => cluster[2].Log.Count == 5, 2), $"{cluster[2].Log.Count} of 5 came");
    }

    // The runs of topics with an address of their own are packed by each of them, and leave together.
    [Fact]
    public void Runs_of_many_topics_with_an_address_for_which_tables_cannot_grow_wait_and_then_all_come()
    {
        const int Topics = 400;
        var cluster = new MulticastCluster(11, 3, new LinkModel(), poolBlocks: 4096);
        var topics = Enumerable.Range(1, Topics).Select(static i => (ulong)i).ToList();
        foreach (ulong topic in topics)
        {
            cluster.Service.GiveAddress(topic);
            cluster[0].Publishes(topic);
            cluster[1].Subscribes(topic);
            cluster[2].Subscribes(topic);
        }

        // Of a region of its own.
        cluster[2].Subscribes(Topics + 1);
        cluster.Commit();
        SendOne();
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        int refused = 0;
        Heap(cluster).Refuses = (use, _) => use == HeapUse.SenderTables && ++refused > 0;
        SendOne();

        // What was sent before makes room when it is acknowledged.
        Assert.True(cluster.RunUntil(() => cluster[1].Log.Count == 2 * Topics && cluster[2].Log.Count == 2 * Topics, 20));
        Assert.True(refused > 0, "nothing was refused");
        Assert.Empty(cluster[1].Gaps);

        void SendOne() => cluster[0].OnCore(() => topics.ForEach(topic => Assert.True(cluster[0].Publish(topic, 100))));
    }

    private static MulticastCluster Start(bool hasAddress)
    {
        var cluster = new MulticastCluster(11, 3, new LinkModel { Loss = 0.01 }, poolBlocks: 4096);
        cluster[0].Publishes(Both);
        cluster[0].Publishes(One);
        cluster[1].Subscribes(Both);
        cluster[2].Subscribes(Both);
        cluster[2].Subscribes(One);
        if (hasAddress)
        {
            cluster.Service.GiveAddress(Both);
        }

        cluster.Commit();
        return cluster;
    }

    private static Simulation.Machines.SimulatedHeap Heap(MulticastCluster cluster) => cluster.Simulation.Nodes[0].Faults.Heap;

    // More packets than the tables have at first, before any of them is acknowledged.
    private static void SendAll(MulticastCluster cluster)
    {
        int[] sizes = [100, 3_000, 40_000, 1_000];
        int[] all = [.. Enumerable.Repeat(sizes, Messages / sizes.Length).SelectMany(static one => one)];
        cluster[0].PublishAll(Both, all);
        cluster[0].PublishAll(One, all);
    }

    // The same to both, one message in each turn, and with an observer of what was taken after each.
    private static void SendAll(MulticastCluster cluster, CountingObserver observer)
    {
        int left = Messages;
        var sender = (TopicSender)cluster[0].Sender(Both);
        while (left > 0)
        {
            cluster[0].OnCore(Send);
            cluster.Simulation.Run(TimeSpan.FromMicroseconds(10));
        }

        void Send()
        {
            if (cluster[0].Publish(Both, 300))
            {
                observer.Tight += sender.Routes.Count(static route => route.IsTight(packets: 0, claims: 1, isBeginning: false));
                sender.ObserveTaken(observer, left--, isLast: left == 0);
            }
        }
    }

    private static void AssertAllCame(MulticastCluster cluster, string what)
    {
        Assert.True(
            cluster.RunUntil(() => cluster[1].Log.Count == Messages && cluster[2].Log.Count == 2 * Messages, 60),
            $"{what}: {cluster[1].Log.Count} and {cluster[2].Log.Count} of {Messages} came");
        MulticastCluster.AssertRun(cluster[1], cluster[0], Both, 1, Messages);
        MulticastCluster.AssertRun(cluster[2], cluster[0], Both, 1, Messages);
        MulticastCluster.AssertRun(cluster[2], cluster[0], One, 1, Messages);
        cluster.Simulation.Run(TimeSpan.FromSeconds(2));
        Assert.Equal((Messages, 2 * Messages), (cluster[1].Log.Count, cluster[2].Log.Count));
        Assert.Empty(cluster[1].Gaps);
        Assert.Empty(cluster[2].Gaps);
        Assert.DoesNotContain(
            cluster[0].Multicast.Troubles, static one => one.Kind == Core.Diagnostics.TroubleKind.HeapFull);
    }

    private sealed class CountingObserver : IStabilityObserver
    {
        public int Stable { get; private set; }

        /// <summary>How often a stream had no room for it.</summary>
        public int Tight { get; set; }

        public void OnStable(long sequence) => Stable++;

        public void OnAbandoned(long sequence, string reason) => Assert.Fail(reason);
    }
}
