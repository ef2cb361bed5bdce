using FsCheck;
using FsCheck.Fluent;
using QuickSilver.Simulation.Machines.Time;

namespace QuickSilver.Simulation.Tests.Machines;

// I20 rests on this: one order of events, whatever the order of asking.
public sealed class VirtualTimeTests
{
    [Fact]
    public void Events_fire_by_time_and_then_by_order_of_asking()
    {
        Prop.ForAll<byte[]>(delays =>
        {
            var time = new VirtualTime();
            var fired = new List<(TimeSpan, int)>();
            for (int i = 0; i < delays.Length; i++)
            {
                int number = i;
                time.At(Ms(delays[i]), new ActionEvent(() => fired.Add((time.Now, number))));
            }

            time.RunTo(Ms(1000));
            var expected = delays.Select((delay, i) => (Ms(delay), i)).OrderBy(pair => pair.Item1).ThenBy(pair => pair.i);
            return fired.SequenceEqual(expected) && time.Now == Ms(1000) && time.QueuedEvents == 0;
        }).QuickCheckThrowOnFailure();
    }

    [Fact]
    public void Events_due_in_the_past_run_now_after_those_queued_for_now()
    {
        var time = new VirtualTime();
        var fired = new List<string>();
        time.At(Ms(5), new ActionEvent(() =>
        {
            time.At(Ms(1), new ActionEvent(() => fired.Add($"late at {time.Now.TotalMilliseconds}")));
        }));
        time.At(Ms(5), new ActionEvent(() => fired.Add("queued")));
        time.RunTo(Ms(10));
        Assert.Equal(["queued", "late at 5"], fired);
    }

    [Fact]
    public void Events_added_by_an_event_run_after_those_queued_for_its_time()
    {
        var time = new VirtualTime();
        var fired = new List<int>();
        for (int i = 0; i < 3; i++)
        {
            int number = i;
            time.At(Ms(5), new ActionEvent(() =>
            {
                fired.Add(number);
                time.At(Ms(5), new ActionEvent(() => fired.Add(10 + number)));
                time.At(Ms(6), new ActionEvent(() => fired.Add(20 + number)));
            }));
        }

        time.At(Ms(5), new ActionEvent(() => fired.Add(3)));
        time.RunTo(Ms(10));
        Assert.Equal([0, 1, 2, 3, 10, 11, 12, 20, 21, 22], fired);
    }

    [Fact]
    public void Remaining_events_of_an_instant_run_next_after_an_event_throws()
    {
        var time = new VirtualTime();
        var fired = new List<int>();
        time.At(Ms(5), new ActionEvent(() => fired.Add(0)));
        time.At(Ms(5), new ActionEvent(() => throw new InvalidDataException()));
        time.At(Ms(5), new ActionEvent(() => fired.Add(2)));
        Assert.Throws<InvalidDataException>(() => time.RunTo(Ms(10)));
        time.RunTo(Ms(10));
        Assert.Equal([0, 2], fired);
        Assert.Equal(0, time.QueuedEvents);
    }

    [Fact]
    public void A_run_until_a_condition_stops_at_the_instant_at_which_it_holds()
    {
        var time = new VirtualTime();
        int fired = 0;
        for (int i = 1; i <= 10; i++)
        {
            time.At(Ms(i), new ActionEvent(() => fired++));
        }

        Assert.True(time.RunUntil(() => fired == 4, Ms(100)));
        Assert.Equal(Ms(4), time.Now);
        Assert.False(time.RunUntil(() => fired == 40, Ms(100)));
        Assert.Equal(Ms(100), time.Now);
        Assert.Equal(10, fired);
    }

    [Fact]
    public void A_limit_is_not_overrun()
    {
        var time = new VirtualTime();
        bool fired = false;
        time.At(Ms(11), new ActionEvent(() => fired = true));
        time.RunTo(Ms(10));
        Assert.False(fired);
        time.RunTo(Ms(11));
        Assert.True(fired);
    }

    [Fact]
    public void A_loop_without_delay_is_reported()
    {
        var time = new VirtualTime { MostEventsPerInstant = 1000 };
        void Again() => time.After(TimeSpan.Zero, new ActionEvent(Again));
        Again();
        Assert.Contains("stands still", Assert.Throws<SimulationException>(() => time.RunTo(Ms(1))).Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_callback_cannot_run_the_simulation()
    {
        var time = new VirtualTime();
        time.After(TimeSpan.Zero, new ActionEvent(() => time.RunTo(Ms(5))));
        Assert.Throws<InvalidOperationException>(() => time.RunTo(Ms(1)));
    }

    [Fact]
    public void Another_thread_is_turned_away()
    {
        var time = new VirtualTime();
        Exception? caught = null;
        var thread = new Thread(() => caught = Record.Exception(() => time.After(TimeSpan.Zero, new ActionEvent(() => { }))));
        thread.Start();
        thread.Join();
        Assert.Contains("one thread", Assert.IsType<InvalidOperationException>(caught).Message, StringComparison.Ordinal);

        thread = new Thread(() => caught = Record.Exception(() =>
        {
            time.AdoptThread();
            time.After(TimeSpan.Zero, new ActionEvent(() => { }));
        }));
        thread.Start();
        thread.Join();
        Assert.Null(caught);
    }

    private static TimeSpan Ms(int milliseconds) => TimeSpan.FromMilliseconds(milliseconds);
}
