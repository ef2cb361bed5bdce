using FsCheck;
using FsCheck.Fluent;
using QuickSilver.Core.Environment;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Ordering.Credit;

namespace QuickSilver.Multicast.Tests.Ordering;

// Messages that wait for a reader keep their bytes and order, within their bound (I3, I4, I17).
public sealed class ParkedMessagesTests
{
    private const int MostOfTopic = 500_000;

    [Fact]
    public void They_do_as_a_queue_does_within_their_bound() =>
        Prop.ForAll(Arb.From(Gen.Choose(0, 1 << 20).ArrayOf(), ArbMap.Default.ArbFor<int[]>().Shrinker), Holds)
            .Check(Config.QuickThrowOnFailure.WithMaxTest(200).WithEndSize(300));

    [Fact]
    public void A_full_budget_refuses_what_another_topic_holds()
    {
        var budget = new ParkingBudget(1_000, 1_500, NodeHeap.OfProcess);
        var one = new ParkedMessages(budget);
        var other = new ParkedMessages(budget);
        Assert.True(budget.HasPlenty(one.Bytes));
        Assert.True(one.TryAdd(Message(new byte[900])));
        Assert.Equal((false, true), (budget.HasPlenty(one.Bytes), budget.HasPlenty(other.Bytes)));
        Assert.False(one.TryAdd(Message(new byte[900])));
        Assert.False(other.TryAdd(Message(new byte[900])));
        Assert.True(other.TryAdd(Message(new byte[400])));
        Assert.False(budget.HasPlenty(0));

        one.Clear();
        Assert.True(other.TryAdd(Message(new byte[500])));
        other.Clear();
        Assert.Equal(0, budget.Bytes);
    }

    private static void Holds(int[] steps)
    {
        var budget = new ParkingBudget(MostOfTopic, MostOfTopic * 2, NodeHeap.OfProcess);
        var parked = new ParkedMessages(budget);
        var model = new Queue<byte[]>();
        foreach (int step in steps)
        {
            if (step % 3 != 0)
            {
                // Some larger than a chunk, some empty.
                var payload = new byte[step % 5 + (step % 7 == 0 ? step / 8 : step % 2_000)];
                payload.AsSpan().Fill((byte)step);
                long cost = model.Sum(one => ParkingBudget.Cost(one.Length)) + ParkingBudget.Cost(payload.Length);
                Assert.Equal(cost <= MostOfTopic, parked.TryAdd(Message(payload, fields: step % 5)));
                if (cost <= MostOfTopic)
                {
                    model.Enqueue(payload);
                }
            }
            else if (model.TryDequeue(out var oldest))
            {
                var message = new DeliveredMessage(default);
                parked.Peek(ref message, topicId: 1, number: 2);
                Assert.Equal(oldest, message.WithExtensions.ToArray());
                Assert.Equal(oldest.Length, message.ExtensionBytes + message.Length);
                parked.Remove();
            }

            Assert.Equal(model.Count, parked.Count);
            Assert.Equal(model.Sum(one => ParkingBudget.Cost(one.Length)), budget.Bytes);
        }

        parked.Clear();
        Assert.Equal(0, budget.Bytes);
    }

    // The first so many of the bytes are fields before the payload.
    private static DeliveredMessage Message(byte[] bytes, int fields = 0)
    {
        var message = new DeliveredMessage(default);
        message.Set(1, 1, bytes, fields, bytes.Length - fields, fields);
        return message;
    }
}
