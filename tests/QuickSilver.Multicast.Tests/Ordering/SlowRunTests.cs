using QuickSilver.Core.Environment;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Ordering;
using QuickSilver.Multicast.Ordering.Credit;

namespace QuickSilver.Multicast.Tests.Ordering;

// The steps of credit for one sender's run in one topic (I17, I24).
public sealed class SlowRunTests
{
    private readonly SenderOrder _order = new(new NodeKey(1, 1), new FullSink());
    private readonly ParkingBudget _parking = new(ParkedBytes, ParkedBytes, NodeHeap.OfProcess);
    private TimeSpan _now = TimeSpan.FromSeconds(1);

    private const long ParkedBytes = 16L << 20;

    [Fact]
    public void A_run_with_nothing_parked_gets_credit_although_others_have_used_the_memory_of_the_node()
    {
        var run = Held(parked: 1, bytes: 100);
        TakeAll();
        Step(run, mayPark: false);
        Assert.InRange(run.Through, _order.Next, long.MaxValue - 1);
    }

    [Fact]
    public void A_run_with_parked_messages_gets_no_credit_while_others_have_used_the_memory_of_the_node()
    {
        var run = Held(parked: 10, bytes: 100);
        Step(run, mayPark: false);
        Assert.Equal(_order.Next - 1, run.Through);
    }

    // Without proof that the readers take more.
    [Theory]
    [InlineData(100, 16)]
    [InlineData(1 << 20, 7)]
    [InlineData(2 << 20, 3)]
    [InlineData(12 << 20, 1)]
    public void The_credit_of_large_messages_is_no_more_than_half_of_what_may_be_parked(int bytes, int expected)
    {
        var run = Held(parked: 0, bytes);
        TakeAll();
        run.OnArrived(bytes);
        Step(run, mayPark: true);
        Assert.Equal(expected, run.Through - _order.Next + 1);
    }

    private void Step(SlowRun run, bool mayPark)
    {
        _now += SlowRun.StepInterval;
        run.Step(_now, mayPark);
    }

    private SlowRun Held(int parked, int bytes)
    {
        _order.SkipTo(1);
        var run = new SlowRun(null!, _order, ParkedBytes);
        _order.Slow = run;
        run.Hold(_now);
        for (int i = 0; i < parked; i++)
        {
            Park(bytes);
        }

        _order.IsBlocked = true;
        return run;
    }

    private void Park(int bytes)
    {
        var message = new DeliveredMessage(_order.Sender);
        message.Set(1, _order.Next, new byte[bytes], 0, bytes, 0);
        Assert.True(_order.TryPark(message, _parking));
        _order.Slow!.OnArrived(bytes);
        _order.Advance();
    }

    // As if the sink had room.
    private void TakeAll()
    {
        _order.DropAll();
        _order.IsBlocked = false;
    }

    private sealed class FullSink : IDeliverySink
    {
        public bool TryAccept(in DeliveredMessage message) => false;

        public void OnGap(in TopicGap gap)
        {
        }
    }
}
