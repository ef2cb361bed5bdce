using QuickSilver.Multicast.Reassembly;
using QuickSilver.Multicast.Tests.Infrastructure;
using QuickSilver.Simulation;

namespace QuickSilver.Multicast.Tests.Scenarios.Memory;

// Messages that span packets, while all memory for them is taken (I1, I17, I19, I22 under F21 and F24).
public sealed class ReassemblyTests
{
    private const ulong Large = 1;
    private const ulong Other = 2;
    private const int Budget = 16 << 20;

    [Theory]
    [InlineData(3_000)]
    [InlineData(1 << 20)]
    [InlineData(15 << 20)]
    public void A_message_that_came_while_all_memory_was_taken_is_delivered(int bytes)
    {
        var cluster = TwoSenders(seed: 3);
        cluster[0].OnCore(() => Assert.True(cluster[0].Publish(Large, MulticastOptions.MaxMessageBytes)));
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(5));
        cluster[1].OnCore(() => Assert.True(cluster[1].Publish(Other, bytes)));

        Assert.True(cluster.RunUntil(() => cluster[2].Log.Count == 2, 60), $"{cluster[2].Log.Count} of 2");
        Assert.Equal(0, cluster[2].Multicast.Context.Receiving.Reassembly.Bytes);
    }

    [Fact]
    public void A_small_message_does_not_wait_behind_large_ones()
    {
        var cluster = TwoSenders(seed: 3, new LinkModel { BytesPerSecond = 10_000_000 });
        cluster[0].PublishAll(Large, 3, MulticastOptions.MaxMessageBytes);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        cluster[1].OnCore(() => Assert.True(cluster[1].Publish(Other, 3_000)));

        Assert.True(cluster.RunUntil(() => cluster[2].Log.Count == 1, 0.3), "the small message waits");
        Assert.Equal(Other, cluster[2].Log[0].Topic);
    }

    // The message is here, however long it waits for memory: it is not missing.
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_message_that_waits_for_memory_is_not_reported_as_a_gap_because_a_later_one_is_complete(bool isFirst)
    {
        var cluster = TwoSenders(seed: 3);
        var budget = cluster[2].Multicast.Context.Receiving.Reassembly;
        cluster[1].PublishAll(Other, isFirst ? 0 : 1, 100);
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        int taken = 0;
        while (budget.TryTakeNow(ReassemblyBudget.SmallBytes, out _))
        {
            taken++;
        }

        cluster[1].PublishAll(Other, 1, 3_000);
        cluster[1].PublishAll(Other, 1, 100);
        for (int i = 0; i < 80; i++)
        {
            // Other messages receive pieces, so no sender may exceed the limit.
            budget.NotePiece();
            cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        }

        Assert.Equal(isFirst ? 0 : 1, cluster[2].Log.Count);
        budget.ReturnBytes(ReassemblyShare.Small, taken * ReassemblyBudget.SmallBytes);
        Assert.True(cluster.RunUntil(() => cluster[2].Log.Count == (isFirst ? 2 : 3), 5), $"{cluster[2].Log.Count} came");
        Assert.Empty(cluster[2].Gaps);
        Assert.Equal(0, cluster[2].Multicast.Counters.MessagesUnaccounted);
    }

    // Its packets are here, so the sender counts on it that this member knows where the topic begins.
    [Fact]
    public void A_topic_whose_first_message_waits_for_memory_begins_with_it_after_a_change_of_the_view_too()
    {
        var cluster = TwoSenders(seed: 3);
        var budget = cluster[2].Multicast.Context.Receiving.Reassembly;
        int taken = 0;
        while (budget.TryTakeNow(ReassemblyBudget.SmallBytes, out _))
        {
            taken++;
        }

        cluster[1].PublishAll(Other, 1, 3_000);
        Run(1);
        cluster[0].Subscribes(Large);
        cluster[0].Subscribes(Other);
        cluster.Commit();
        Run(1);
        cluster[1].PublishAll(Other, 1, 3_000);
        Run(1);
        cluster[0].Unsubscribes(Large);
        cluster[0].Unsubscribes(Other);
        cluster.Commit();
        Run(1);
        cluster[1].PublishAll(Other, 1, 100);
        Run(1);

        Assert.Empty(cluster[2].Log);
        budget.ReturnBytes(ReassemblyShare.Small, taken * ReassemblyBudget.SmallBytes);
        Run(10);
        MulticastCluster.AssertRun(cluster[2], cluster[1], Other, 1, 3);
        Assert.Empty(cluster[2].Gaps);

        void Run(int seconds)
        {
            for (int i = 0; i < 10 * seconds; i++)
            {
                // Other messages receive pieces, so none may exceed the limit.
                budget.NotePiece();
                cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
            }
        }
    }

    [Theory]
    [InlineData(0)]
    [InlineData(0.01)]
    public void Senders_of_large_messages_take_turns(double loss)
    {
        const int Messages = 6;
        var cluster = TwoSenders(seed: 5, new LinkModel { Loss = loss });
        cluster[0].PublishAll(Large, Messages, 15 << 20);
        cluster[1].PublishAll(Other, Messages, 15 << 20);

        Assert.True(cluster.RunUntil(() => cluster[2].Log.Count == 2 * Messages, 120), $"{cluster[2].Log.Count} of {2 * Messages}");
        MulticastCluster.AssertRun(cluster[2], cluster[0], Large, 1, Messages);
        MulticastCluster.AssertRun(cluster[2], cluster[1], Other, 1, Messages);
        Assert.Equal(0, cluster[2].Multicast.Context.Receiving.Reassembly.Bytes);
    }

    // What a reader has no room for takes memory until it has; another topic's messages need not wait for it.
    [Fact]
    public void Messages_that_wait_for_a_reader_do_not_take_the_memory_of_another_topics()
    {
        var cluster = TwoSenders(seed: 7);
        var full = cluster[2].Subscribes(3);
        cluster[0].Publishes(3);
        cluster.Commit();
        full.IsFull = true;
        cluster[0].PublishAll(3, 1, MulticastOptions.MaxMessageBytes);
        cluster.Simulation.Run(TimeSpan.FromSeconds(2));
        cluster[1].PublishAll(Other, 3, 15 << 20);

        Assert.True(cluster.RunUntil(() => cluster[2].Log.Count == 3, 30), $"{cluster[2].Log.Count} of 3");
        Assert.InRange(cluster[2].Multicast.Context.Receiving.Reassembly.Bytes, 1, 2 * Budget);
        full.IsFull = false;
        cluster[2].Resume(3);
        Assert.True(cluster.RunUntil(() => cluster[2].Log.Count == 4, 30));
        Assert.Equal(0, cluster[2].Multicast.Context.Receiving.Reassembly.Bytes);
    }

    [Fact]
    public void A_best_effort_message_for_which_there_is_no_memory_is_reported_and_the_next_is_delivered()
    {
        var options = new MulticastOptions { ClusterId = 7, ReassemblyBytes = Budget };
        var cluster = new MulticastCluster(3, 3, options: options, poolBlocks: 4096);
        cluster[0].Publishes(Large);
        cluster[1].Publishes(Other, reliable: false);
        var full = cluster[2].Subscribes(Large);
        cluster[2].Subscribes(Other, reliable: false);
        cluster.Commit();
        full.IsFull = true;
        cluster[0].PublishAll(Large, 1, MulticastOptions.MaxMessageBytes);
        cluster.Simulation.Run(TimeSpan.FromSeconds(2));
        cluster[1].PublishAll(Other, 1, 1 << 20);
        cluster[1].PublishAll(Other, 1, 3_000);
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));

        Assert.Equal([2L], cluster[2].SequencesOf(cluster[1].Key, Other));
        var gap = Assert.Single(cluster[2].Gaps);
        Assert.Equal((1L, 1L), (gap.First, gap.Last));
    }

    private static MulticastCluster TwoSenders(ulong seed, LinkModel? link = null)
    {
        var options = new MulticastOptions { ClusterId = 7, ReassemblyBytes = Budget };
        var cluster = new MulticastCluster(seed, 3, link, options, poolBlocks: 4096);
        cluster[0].Publishes(Large);
        cluster[1].Publishes(Other);
        cluster[2].Subscribes(Large);
        cluster[2].Subscribes(Other);
        cluster.Commit();
        return cluster;
    }
}
