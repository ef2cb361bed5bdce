namespace QuickSilver.Simulation.Machines.Time;

// Virtual time as the test itself sees it: no fault touches it.
internal sealed class ScenarioTime(SimulatedMachines machines) : TimeProvider
{
    public override long TimestampFrequency => TimeSpan.TicksPerSecond;

    public override long GetTimestamp() => machines.Now.Ticks;

    public override DateTimeOffset GetUtcNow() => machines.Options.Epoch + machines.Now;

    public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period)
    {
        var timer = new Timer(machines, callback, state);
        timer.Change(dueTime, period);
        return timer;
    }

    // Setting it again makes what was queued stale: each setting is an event of its own.
    private sealed class Timer(SimulatedMachines machines, TimerCallback callback, object? state) : ITimer
    {
        private long _setting;

        public bool Change(TimeSpan dueTime, TimeSpan period)
        {
            long setting = ++_setting;
            if (dueTime >= TimeSpan.Zero)
            {
                machines.After(dueTime, () => Fire(setting, period));
            }

            return true;
        }

        public void Dispose() => _setting++;

        public ValueTask DisposeAsync()
        {
            Dispose();
            return default;
        }

        private void Fire(long setting, TimeSpan period)
        {
            if (setting != _setting)
            {
                return;
            }

            if (period > TimeSpan.Zero)
            {
                machines.After(period, () => Fire(setting, period));
            }

            callback(state);
        }
    }
}
