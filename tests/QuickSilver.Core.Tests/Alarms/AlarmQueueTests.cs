using QuickSilver.Core.Alarms;
using QuickSilver.Core.Tests.Infrastructure;

namespace QuickSilver.Core.Tests.Alarms;

public sealed class AlarmQueueTests
{
    private const int Many = 200_000;

    private readonly AlarmQueue _queue = new();

    [Fact]
    public void Nothing_is_due_in_an_empty_queue()
    {
        Assert.False(_queue.TryPeekDue(out _));
        Assert.Null(_queue.TakeDue(TimeSpan.MaxValue));
    }

    [Fact]
    public void An_alarm_is_due_at_its_instant_and_not_before()
    {
        var alarm = Scheduled(100);

        Assert.True(_queue.TryPeekDue(out var due));
        Assert.Equal(Ticks(100), due);
        Assert.Null(_queue.TakeDue(Ticks(99)));
        Assert.True(alarm.IsPending);
        Assert.Same(alarm, _queue.TakeDue(Ticks(100)));
        Assert.False(alarm.IsPending);
        Assert.Equal(0, _queue.Count);
    }

    [Fact]
    public void Alarms_of_one_instant_come_in_the_order_in_which_they_were_set()
    {
        var alarms = Enumerable.Range(0, 50).Select(_ => Scheduled(7)).ToArray();
        _queue.Schedule(alarms[0], Ticks(7));

        Assert.Equal(alarms[1..].Append(alarms[0]), TakeAll(Ticks(7)));
    }

    [Fact]
    public void A_pending_alarm_is_moved_and_comes_once()
    {
        var moved = Scheduled(10);
        var other = Scheduled(20);
        _queue.Schedule(moved, Ticks(30));

        Assert.Equal([other, moved], TakeAll(Ticks(30)));
    }

    [Fact]
    public void A_cancelled_alarm_never_comes_and_may_be_set_again()
    {
        var alarm = Scheduled(10);
        _queue.Cancel(alarm);
        _queue.Cancel(alarm);
        Assert.Empty(TakeAll(TimeSpan.MaxValue));

        _queue.Schedule(alarm, Ticks(10));
        Assert.Equal([alarm], TakeAll(Ticks(10)));
    }

    [Fact]
    public void An_alarm_that_is_pending_elsewhere_is_refused()
    {
        var alarm = Scheduled(10);
        var elsewhere = new AlarmQueue();

        Assert.Throws<InvalidOperationException>(() => elsewhere.Schedule(alarm, Ticks(5)));
        Assert.Throws<InvalidOperationException>(() => elsewhere.Cancel(alarm));
        Assert.Equal([alarm], TakeAll(Ticks(10)));
        elsewhere.Schedule(alarm, Ticks(5));
    }

    [Fact]
    public void The_queue_does_as_a_sorted_list_does()
    {
        Steps.Hold(steps =>
        {
            var queue = new AlarmQueue();
            var model = new List<(TimeSpan Due, int Order, Alarm Alarm)>();
            var alarms = Enumerable.Range(0, 24).Select(_ => new Alarm(() => { })).ToArray();
            for (int i = 0; i < steps.Length; i++)
            {
                var alarm = alarms[steps[i] / 8 % alarms.Length];
                // Few instants, so that many alarms share one.
                var instant = Ticks(steps[i] / 1024 % 16);
                switch (steps[i] % 8)
                {
                    case < 4:
                        model.RemoveAll(entry => entry.Alarm == alarm);
                        model.Add((instant, i, alarm));
                        queue.Schedule(alarm, instant);
                        break;
                    case < 6:
                        model.RemoveAll(entry => entry.Alarm == alarm);
                        queue.Cancel(alarm);
                        break;
                    default:
                        var first = model.Where(entry => entry.Due <= instant).OrderBy(entry => (entry.Due, entry.Order)).FirstOrDefault();
                        Assert.Same(first.Alarm, queue.TakeDue(instant));
                        model.Remove(first);
                        break;
                }

                Assert.Equal(model.Count, queue.Count);
                Assert.Equal(model.Count > 0, queue.TryPeekDue(out var due));
                Assert.Equal(model.Count > 0 ? model.Min(entry => entry.Due) : default, due);
                Assert.All(alarms, one => Assert.Equal(model.Any(entry => entry.Alarm == one), one.IsPending));
            }
        });
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_tree_that_is_a_list_of_many_alarms_needs_no_deep_stack(bool isAscending)
    {
        int taken = 0;
        var thread = new Thread(
            () =>
            {
                var alarms = new Alarm[Many];
                for (int i = 0; i < Many; i++)
                {
                    alarms[i] = Scheduled(isAscending ? i : Many - i);
                }

                for (int i = 0; i < Many; i += 2)
                {
                    _queue.Cancel(alarms[i]);
                }

                var last = TimeSpan.MinValue;
                while (_queue.TakeDue(TimeSpan.MaxValue) is { } alarm)
                {
                    Assert.True(alarm.Due > last);
                    last = alarm.Due;
                    taken++;
                }
            },
            maxStackSize: 128 * 1024);
        thread.Start();
        thread.Join();

        Assert.Equal(Many / 2, taken);
    }

    [Fact]
    public void Setting_moving_cancelling_and_taking_allocate_nothing()
    {
        var alarms = Enumerable.Range(0, 100).Select(_ => new Alarm(() => { })).ToArray();
        long allocated = Allocations.After(() =>
        {
            for (int i = 0; i < 1000; i++)
            {
                _queue.Schedule(alarms[i * 37 % 100], Ticks(i * 91 % 1000));
                _queue.Cancel(alarms[i * 13 % 100]);
                _queue.TakeDue(Ticks(i));
            }
        });

        Assert.Equal(0, allocated);
    }

    private static TimeSpan Ticks(long ticks) => TimeSpan.FromTicks(ticks);

    private Alarm Scheduled(long due)
    {
        var alarm = new Alarm(() => { });
        _queue.Schedule(alarm, Ticks(due));
        return alarm;
    }

    private List<Alarm> TakeAll(TimeSpan now)
    {
        var taken = new List<Alarm>();
        while (_queue.TakeDue(now) is { } alarm)
        {
            taken.Add(alarm);
        }

        return taken;
    }
}
