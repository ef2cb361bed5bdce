using QuickSilver.Core.Environment;
using QuickSilver.Core.Wire;
using QuickSilver.Multicast.Tests.Infrastructure;
using QuickSilver.Simulation;

namespace QuickSilver.Multicast.Tests.Scenarios.Memory;

// The heap refuses memory at each place on the way of a received message (I1 to I4, I22). Nothing that was sent is lost, reported as a gap
// or delivered twice, and everything continues when there is memory.
public sealed class HeapShortageTests
{
    private const ulong Mixed = 1;
    private const ulong Slow = 2;
    private const int MessagesOfTopic = 16;

    // What senders and the layers above multicast take is not among them.
    public static TheoryData<string> Uses =>
    [
        .. Enum.GetNames<HeapUse>().Except(
            [nameof(HeapUse.ReaderBuffer), nameof(HeapUse.SenderTables), nameof(HeapUse.QueuedMessage)]),
    ];

    [Theory]
    [MemberData(nameof(Uses))]
    public void All_memory_of_one_kind_is_refused_for_a_while_and_nothing_is_lost(string name)
    {
        var use = Enum.Parse<HeapUse>(name);
        int refused = 0;
        var cluster = Start();
        Heap(cluster).Refuses = (of, _) => of == use && ++refused > 0;
        SendAll(cluster);
        cluster.Simulation.Run(TimeSpan.FromSeconds(4));
        Resume(cluster);
        cluster.Simulation.Run(TimeSpan.FromSeconds(4));

        Assert.True(refused > 0, "nothing was refused");
        Assert.InRange(cluster[2].Multicast.Counters.HeapRefusals, 1, long.MaxValue);
        Heap(cluster).Refuses = null;
        AssertAllCame(cluster, name);
    }

    [Fact]
    public void Each_allocation_in_turn_is_refused_once_and_nothing_is_lost()
    {
        int inAll = 0;
        var calm = Start();
        Heap(calm).Refuses = (_, _) => ++inAll < 0;
        SendAll(calm);
        calm.Simulation.Run(TimeSpan.FromSeconds(2));
        Resume(calm);
        AssertAllCame(calm, "nothing refused");
        Assert.InRange(inAll, 20, int.MaxValue);

        int step = Math.Max(1, inAll / 40);
        for (int refusedAt = 1; refusedAt <= inAll; refusedAt += refusedAt <= 20 ? 1 : step)
        {
            int asked = 0;
            var cluster = Start();
            Heap(cluster).Refuses = (_, _) => ++asked == refusedAt;
            SendAll(cluster);
            cluster.Simulation.Run(TimeSpan.FromSeconds(2));
            Resume(cluster);
            AssertAllCame(cluster, $"refused {refusedAt} of {inAll}");
        }
    }

    [Theory]
    [InlineData(0.3)]
    [InlineData(0.8)]
    public void A_share_of_all_memory_is_refused_and_nothing_is_lost(double share)
    {
        var random = new Random(5);
        var cluster = Start();
        Heap(cluster).Refuses = (_, _) => random.NextDouble() < share;
        SendAll(cluster);
        cluster.Simulation.Run(TimeSpan.FromSeconds(20));
        Resume(cluster);
        cluster.Simulation.Run(TimeSpan.FromSeconds(20));

        Heap(cluster).Refuses = null;
        AssertAllCame(cluster, $"{share}");
    }

    [Fact]
    public void A_sink_without_memory_gets_the_message_again()
    {
        var cluster = Start(loss: 0);
        var sink = cluster[2].SinkOf(Mixed);
        sink.Throws = () => new OutOfMemoryException();
        SendAll(cluster);
        cluster.Simulation.Run(TimeSpan.FromSeconds(3));
        Assert.Empty(cluster[2].SequencesOf(cluster[0].Key, Mixed));
        Assert.Equal(0, cluster[2].Multicast.Counters.SinkExceptions);

        sink.Throws = null;
        Resume(cluster);
        AssertAllCame(cluster, "a sink");
    }

    // Once a member holds the packet in which a topic begins, the sender counts on it, and later start tables lack that view.
    [Theory]
    [InlineData(nameof(HeapUse.SenderRun), 100, false)]
    [InlineData(nameof(HeapUse.SenderRun), 100, true)]
    [InlineData(nameof(HeapUse.SenderRun), 3_000, false)]
    [InlineData(nameof(HeapUse.SenderRun), 3_000, true)]
    [InlineData(nameof(HeapUse.OpenMessage), 3_000, false)]
    [InlineData(nameof(HeapUse.MessageBytes), 40_000, true)]
    public void A_topic_whose_beginning_could_not_be_read_begins_with_its_first_message_after_a_change_of_the_view(
        string name, int bytes, bool isHeldUp)
    {
        var use = Enum.Parse<HeapUse>(name);
        var cluster = Start(loss: 0);
        if (isHeldUp)
        {
            cluster[0].PublishAll(Slow, 60, 1_000);
            cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        }

        bool isRefused = false;
        Heap(cluster).Refuses = (of, _) => of == use && (isRefused = true);
        cluster[0].PublishAll(Mixed, 1, bytes);
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        Assert.True(isRefused, "nothing was refused");

        cluster[1].Subscribes(Mixed);
        cluster[1].Subscribes(Slow);
        cluster.Commit();
        cluster[0].PublishAll(Mixed, 1, bytes);
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        cluster[1].Unsubscribes(Mixed);
        cluster[1].Unsubscribes(Slow);
        cluster.Commit();
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        Assert.Empty(cluster[2].SequencesOf(cluster[0].Key, Mixed));

        // There is memory when the message of the third view comes, and the first two are not tried again yet.
        Assert.True(cluster.RunUntil(() => cluster[2].Multicast.Context.Shortage.IsPausing, 5));
        Heap(cluster).Refuses = null;
        cluster[0].PublishAll(Mixed, 1, 100);
        cluster.Simulation.Run(TimeSpan.FromSeconds(5));
        Resume(cluster);
        cluster.Simulation.Run(TimeSpan.FromSeconds(5));
        MulticastCluster.AssertRun(cluster[2], cluster[0], Mixed, 1, 3);
        Assert.Empty(cluster[2].Gaps);
    }

    // Each refusal of the collector costs a full collection.
    [Fact]
    public void While_large_memory_is_refused_it_is_requested_at_growing_intervals()
    {
        int asked = 0;
        var cluster = Start(loss: 0);
        Heap(cluster).Refuses = (use, _) => use == HeapUse.MessageBytes && ++asked > 0;
        cluster[0].PublishAll(Mixed, 3, 1 << 20);
        cluster[1].PublishAll(Mixed, 3, 1 << 20);
        cluster.Simulation.Run(TimeSpan.FromSeconds(60));

        Assert.InRange(asked, 10, 150);
        var trouble = Assert.Single(cluster[2].Multicast.Troubles, static one => one.Kind == Core.Diagnostics.TroubleKind.HeapFull);
        Assert.Contains("no memory for messages", trouble.Description, StringComparison.Ordinal);
        Heap(cluster).Refuses = null;
        Assert.True(cluster.RunUntil(() => cluster[2].Log.Count == 6, 10), $"{cluster[2].Log.Count} of 6");
        Assert.DoesNotContain(cluster[2].Multicast.Troubles, static one => one.Kind == Core.Diagnostics.TroubleKind.HeapFull);
    }

    [Fact]
    public void A_packet_for_whose_place_there_is_no_memory_is_dropped_and_requested_again()
    {
        var cluster = Start(loss: 0.02);
        bool isShort = true;
        Heap(cluster).Refuses = (use, _) => isShort && use == HeapUse.StreamTables;
        cluster[0].PublishAll(Mixed, 6, 1 << 20);
        cluster.Simulation.Run(TimeSpan.FromSeconds(2));
        Assert.True(cluster[2].Multicast.Counters.Dropped(DropReason.NoMemory) > 0, "no packet was dropped");

        isShort = false;
        Assert.True(cluster.RunUntil(() => cluster[2].Log.Count == 6, 30), $"{cluster[2].Log.Count} of 6");
        Assert.Empty(cluster[2].Gaps);
    }

    private static MulticastCluster Start(double loss = 0.01)
    {
        var cluster = new MulticastCluster(11, 3, new LinkModel { Loss = loss }, poolBlocks: 4096);
        for (int sender = 0; sender < 2; sender++)
        {
            cluster[sender].Publishes(Mixed);
            cluster[sender].Publishes(Slow);
        }

        cluster[2].Subscribes(Mixed);
        cluster[2].Subscribes(Slow).IsFull = true;
        cluster.Commit();
        return cluster;
    }

    private static Simulation.Machines.SimulatedHeap Heap(MulticastCluster cluster) => cluster.Simulation.Nodes[2].Faults.Heap;

    private static void SendAll(MulticastCluster cluster)
    {
        int[] sizes = [100, 3_000, 40_000, 300_000];
        int[] all = [.. Enumerable.Repeat(sizes, MessagesOfTopic / sizes.Length).SelectMany(static one => one)];
        for (int sender = 0; sender < 2; sender++)
        {
            cluster[sender].PublishAll(Mixed, all);
            cluster[sender].PublishAll(Slow, all);
        }
    }

    private static void Resume(MulticastCluster cluster)
    {
        cluster[2].SinkOf(Slow).IsFull = false;
        cluster[2].Resume(Slow);
    }

    private static void AssertAllCame(MulticastCluster cluster, string what)
    {
        const int All = 2 * 2 * MessagesOfTopic;
        Assert.True(cluster.RunUntil(() => cluster[2].Log.Count == All, 60), $"{what}: {cluster[2].Log.Count} of {All} came");
        for (int sender = 0; sender < 2; sender++)
        {
            MulticastCluster.AssertRun(cluster[2], cluster[sender], Mixed, 1, MessagesOfTopic);
            MulticastCluster.AssertRun(cluster[2], cluster[sender], Slow, 1, MessagesOfTopic);
        }

        Assert.Empty(cluster[2].Gaps);
        Assert.Equal(0, cluster[2].Multicast.Counters.MessagesUnaccounted);
        Assert.Equal(0, cluster[2].Multicast.Context.Receiving.Reassembly.Bytes);
        Assert.Equal(0, cluster[2].Multicast.Context.Parking.Bytes);
    }
}
