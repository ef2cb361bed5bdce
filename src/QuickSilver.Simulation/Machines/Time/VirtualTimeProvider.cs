using QuickSilver.Core.Alarms;

namespace QuickSilver.Simulation.Machines.Time;

// Virtual time as one process sees it: its timers wait while it is paused. A dead process has no time left: what is still
// to wait there, because a test cleans up behind it, has waited long enough at once.
internal sealed class VirtualTimeProvider(SimulatedEnvironment life) : TimeProvider
{
    public override long TimestampFrequency => TimeSpan.TicksPerSecond;

    public override long GetTimestamp() => life.Now.Ticks;

    public override DateTimeOffset GetUtcNow() => life.UtcNow;

    public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period)
    {
        var timer = new VirtualTimer(life, callback, state);
        timer.Change(dueTime, period);
        return timer;
    }

    private sealed class VirtualTimer : ITimer
    {
        private readonly SimulatedEnvironment _life;
        private readonly Alarm _alarm;
        private TimeSpan _period;

        public VirtualTimer(SimulatedEnvironment life, TimerCallback callback, object? state)
        {
            _life = life;
            _alarm = new Alarm(() =>
            {
                if (_period > TimeSpan.Zero)
                {
                    _life.Schedule(_alarm!, _period);
                }

                callback(state);
            });
        }

        public bool Change(TimeSpan dueTime, TimeSpan period)
        {
            _period = period;
            if (dueTime < TimeSpan.Zero)
            {
                _life.Cancel(_alarm);
            }
            else if (!_life.IsAlive)
            {
                _alarm.Fire();
            }
            else
            {
                _life.Schedule(_alarm, dueTime);
            }

            return true;
        }

        public void Dispose() => _life.Cancel(_alarm);

        public ValueTask DisposeAsync()
        {
            Dispose();
            return default;
        }
    }
}
