namespace QuickSilver.Tests.Infrastructure;

// The clock outside the core thread, moved by the test: bounds can be proved without waiting for them.
internal sealed class ManualTime : TimeProvider
{
    private readonly Lock _lock = new();
    private readonly List<ManualTimer> _timers = [];
    private TimeSpan _now;

    public override long TimestampFrequency => TimeSpan.TicksPerSecond;

    public TimeSpan Elapsed
    {
        get
        {
            lock (_lock)
            {
                return _now;
            }
        }
    }

    public override long GetTimestamp() => Elapsed.Ticks;

    public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period)
    {
        lock (_lock)
        {
            var timer = new ManualTimer(this, () => callback(state)) { Due = Due(dueTime) };
            _timers.Add(timer);
            return timer;
        }
    }

    public void Advance(TimeSpan by)
    {
        ManualTimer[] due;
        lock (_lock)
        {
            _now += by;
            due = [.. _timers.Where(timer => timer.Due <= _now)];
            foreach (var timer in due)
            {
                timer.Due = TimeSpan.MaxValue;
            }
        }

        foreach (var timer in due)
        {
            timer.Fire();
        }
    }

    /// <summary>Lets this clock run, in steps, until the task is done; returns how far it ran.</summary>
    public async Task<TimeSpan> RunUntilAsync(Task task)
    {
        var begun = Elapsed;
        for (int step = 0; step < 1000 && !task.IsCompleted; step++)
        {
            Advance(TimeSpan.FromMilliseconds(10));
            // Real time passes here only so that continuations on the pool run before the clock moves on.
            await Task.WhenAny(task, Task.Delay(5));
        }

        await task;
        return Elapsed - begun;
    }

    private TimeSpan Due(TimeSpan dueTime) => dueTime == Timeout.InfiniteTimeSpan ? TimeSpan.MaxValue : _now + dueTime;

    private sealed class ManualTimer(ManualTime time, Action fire) : ITimer
    {
        public TimeSpan Due { get; set; }

        public void Fire() => fire();

        public bool Change(TimeSpan dueTime, TimeSpan period)
        {
            lock (time._lock)
            {
                Due = time.Due(dueTime);
            }

            return true;
        }

        public void Dispose()
        {
            lock (time._lock)
            {
                time._timers.Remove(this);
            }
        }

        public ValueTask DisposeAsync()
        {
            Dispose();
            return ValueTask.CompletedTask;
        }
    }
}
