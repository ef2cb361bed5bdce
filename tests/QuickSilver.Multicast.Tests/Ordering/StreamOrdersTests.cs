using FsCheck;
using FsCheck.Fluent;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Ordering;

namespace QuickSilver.Multicast.Tests.Ordering;

public sealed class StreamOrdersTests
{
    // Covers I2: a message must never reach the run of another topic, however the table's entries collide and move.
    [Fact]
    public void The_table_finds_what_was_noted_last_of_each_topic_until_that_is_over()
    {
        var steps = Gen.Choose(0, int.MaxValue - 1).ArrayOf();
        Prop.ForAll(Arb.From(steps, ArbMap.Default.ArbFor<int[]>().Shrinker), Holds)
            .Check(Config.QuickThrowOnFailure.WithMaxTest(200).WithEndSize(400));
    }

    [Fact]
    public void A_topic_that_was_never_noted_is_not_found_in_a_table_of_many()
    {
        var orders = new StreamOrders();
        for (ulong topic = 1; topic <= 10_000; topic++)
        {
            orders.Set(topic, new SenderOrder(new NodeKey(1, 1), new NoSink()));
        }

        Assert.Equal(10_000, orders.Count);
        Assert.Null(orders.Find(0));
        Assert.Null(orders.Find(10_001));
        Assert.NotNull(orders.Find(10_000));
    }

    private static void Holds(int[] steps)
    {
        var orders = new StreamOrders();
        var model = new Dictionary<ulong, SenderOrder>();
        foreach (int step in steps)
        {
            ulong topic = (ulong)(step / 4 % 97) << (step % 3 * 20);
            if (step % 4 == 0 && model.Remove(topic, out var ended))
            {
                // Its entry may stay, and says itself that it is stale.
                ended.IsOver = true;
            }
            else
            {
                model[topic] = new SenderOrder(new NodeKey((ulong)step, 1), new NoSink());
                orders.Set(topic, model[topic]);
            }

            var found = orders.Find(topic);
            Assert.True(ReferenceEquals(found, model.GetValueOrDefault(topic)) || found is { IsOver: true });
        }

        foreach (var (topic, order) in model)
        {
            Assert.Same(order, orders.Find(topic));
        }
    }

    private sealed class NoSink : IDeliverySink
    {
        public bool TryAccept(in DeliveredMessage message) => true;

        public void OnGap(in TopicGap gap)
        {
        }
    }
}
