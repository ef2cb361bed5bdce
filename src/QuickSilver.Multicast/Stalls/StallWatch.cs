using QuickSilver.Core.Alarms;
using QuickSilver.Core.Environment;

namespace QuickSilver.Multicast.Stalls;

// Something that waits, and how far it has come.
internal readonly record struct Wait(object Of, long Progress);

// Names what waits without progress for longer than a limit: in the node's status, in the log, in a counter.
//
// Intuition: whatever protocol is wrong, a node that stands still and says nothing is worse than one that stands still. So the watch
// knows no protocol. It is told what waits and how far it has come, and looks again: what has not moved meanwhile is stalled.
// Application: whoever begins to wait calls Look; the watch then looks twice in each limit for as long as anything waits, and rests
// after that. A stall ends when its owner moves on or waits no more. What goes wrong: progress that is no progress (a number that
// grows by itself) hides a stall, so Progress is what those who wait are waiting for.
internal sealed class StallWatch
{
    private readonly INodeEnvironment _environment;
    private readonly TimeSpan _limit;
    private readonly Action<List<Wait>> _collect;
    private readonly Action<object, TimeSpan> _began;
    private readonly Action<object, TimeSpan> _ended;
    private readonly Alarm _alarm;
    private readonly List<Wait> _waits = [];
    private readonly List<Watched> _watched = [];

    /// <param name="environment">The node's.</param>
    /// <param name="limit">How long something may wait without progress.</param>
    /// <param name="collect">Adds all that waits now, each owner once and in the same order each time.</param>
    /// <param name="began">Told once when a stall is found, with how long it has lasted.</param>
    /// <param name="ended">Told when one that was found is over, with how long it took.</param>
    public StallWatch(
        INodeEnvironment environment,
        TimeSpan limit,
        Action<List<Wait>> collect,
        Action<object, TimeSpan> began,
        Action<object, TimeSpan> ended)
    {
        _environment = environment;
        _limit = limit;
        _collect = collect;
        _began = began;
        _ended = ended;
        _alarm = new Alarm(OnDue);
    }

    /// <summary>What is stalled now.</summary>
    public int Stalled { get; private set; }

    /// <summary>Something waits, perhaps.</summary>
    public void Look()
    {
        if (!_alarm.IsPending)
        {
            _environment.Schedule(_alarm, _limit / 2);
        }
    }

    public void Close() => _environment.Cancel(_alarm);

    private void OnDue()
    {
        var now = _environment.Now;
        _waits.Clear();
        _collect(_waits);
        foreach (var watched in _watched)
        {
            watched.IsSeen = false;
        }

        foreach (var wait in _waits)
        {
            See(wait, now);
        }

        for (int i = 0; i < _watched.Count; i++)
        {
            if (!_watched[i].IsSeen)
            {
                End(_watched[i], now);
                _watched.RemoveAt(i--);
            }
        }

        if (_waits.Count > 0)
        {
            Look();
        }

        _waits.Clear();
    }

    private void See(in Wait wait, TimeSpan now)
    {
        var watched = Find(wait.Of);
        if (watched is null)
        {
            _watched.Add(watched = new Watched(wait.Of) { Progress = wait.Progress, Since = now });
        }

        watched.IsSeen = true;
        if (watched.Progress != wait.Progress)
        {
            End(watched, now);
            watched.Progress = wait.Progress;
            watched.Since = now;
        }
        else if (!watched.IsStalled && now - watched.Since >= _limit)
        {
            watched.IsStalled = true;
            Stalled++;
            _began(wait.Of, now - watched.Since);
        }
    }

    private Watched? Find(object of)
    {
        foreach (var watched in _watched)
        {
            if (ReferenceEquals(watched.Of, of))
            {
                return watched;
            }
        }

        return null;
    }

    private void End(Watched watched, TimeSpan now)
    {
        if (watched.IsStalled)
        {
            watched.IsStalled = false;
            Stalled--;
            _ended(watched.Of, now - watched.Since);
        }
    }

    private sealed class Watched(object of)
    {
        public object Of { get; } = of;
        public long Progress { get; set; }
        public TimeSpan Since { get; set; }
        public bool IsSeen { get; set; }
        public bool IsStalled { get; set; }
    }
}
