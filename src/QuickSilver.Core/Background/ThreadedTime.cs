using System.Diagnostics;

namespace QuickSilver.Core.Background;

// The system's time, with timers that fire on threads of their own.
//
// Intuition: a timer of the system fires on the thread pool, which is the application's: while handlers block all of it, no timer fires.
// What watches for such handlers must not wait for them. Application: a thread for each timer, which rests until the timer is due. For the
// few timers that a node cannot do without.
internal sealed class ThreadedTime : TimeProvider
{
    public static readonly ThreadedTime Instance = new();

    private ThreadedTime()
    {
    }

    /// <summary>Makes a timer. It fires once each time that it is set; there are no periods.</summary>
    public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period)
    {
        var timer = new ThreadTimer(callback, state);
        timer.Change(dueTime, period);
        return timer;
    }

    private sealed class ThreadTimer : ITimer
    {
        private readonly Lock _setting = new();
        private readonly AutoResetEvent _set = new(initialState: false);
        private readonly TimerCallback _callback;
        private readonly object? _state;
        // Since when the timer is set, and for how long; infinite: it is not set.
        private long _setAt;
        private TimeSpan _due = Timeout.InfiniteTimeSpan;
        private bool _hasThread;
        private bool _isDisposed;

        public ThreadTimer(TimerCallback callback, object? state)
        {
            _callback = callback;
            _state = state;
        }

        public bool Change(TimeSpan dueTime, TimeSpan period)
        {
            if (period != Timeout.InfiniteTimeSpan)
            {
                throw new NotSupportedException("A timer with a thread of its own has no period.");
            }

            lock (_setting)
            {
                if (_isDisposed)
                {
                    return false;
                }

                (_setAt, _due) = (Stopwatch.GetTimestamp(), dueTime);
                if (_hasThread)
                {
                    _set.Set();
                }
                else if (dueTime != Timeout.InfiniteTimeSpan)
                {
                    _hasThread = true;
                    Detached.Start(new Thread(Run) { IsBackground = true, Name = "QuickSilver timer" });
                }

                return true;
            }
        }

        public void Dispose()
        {
            lock (_setting)
            {
                if (_isDisposed)
                {
                    return;
                }

                _isDisposed = true;
                if (_hasThread)
                {
                    _set.Set();
                }
                else
                {
                    _set.Dispose();
                }
            }
        }

        public ValueTask DisposeAsync()
        {
            Dispose();
            return default;
        }

        private void Run()
        {
            while (TryTake(out var left))
            {
                if (left == TimeSpan.Zero)
                {
                    _callback(_state);
                }
                else
                {
                    _set.WaitOne(left);
                }
            }

            _set.Dispose();
        }

        // The time until it is due; zero: it is due, and not set any more. False: the timer was disposed of.
        private bool TryTake(out TimeSpan left)
        {
            lock (_setting)
            {
                left = Timeout.InfiniteTimeSpan;
                if (_due == Timeout.InfiniteTimeSpan)
                {
                    return !_isDisposed;
                }

                left = _due - Stopwatch.GetElapsedTime(_setAt);
                if (left <= TimeSpan.Zero)
                {
                    (left, _due) = (TimeSpan.Zero, Timeout.InfiniteTimeSpan);
                }

                return !_isDisposed;
            }
        }
    }
}
