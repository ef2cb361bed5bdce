using QuickSilver.Core.Alarms;
using QuickSilver.Core.Environment;
using QuickSilver.Multicast.Nodes;

namespace QuickSilver.Multicast.Stalls;

// Reports what waits without progress for longer than a limit, in the status of the node, in the log and in a counter (I21).
//
// Intuition: whatever fault a protocol has, a node that stops and reports nothing is worse than one that only stops. So the watch knows no
// protocol. It gets a list of what waits, with the progress of each, and compares it with the next list: an item without progress is
// stalled. Application: code that begins to wait calls Look. The watch then looks LooksPerLimit times per limit while anything waits, and
// when the limit of something is reached; it rests when nothing waits. So a stall is reported at most a tenth of the limit late: what is
// seen for the first time may have begun to wait just after the last look. A stall ends when its owner makes progress or stops waiting.
// What goes wrong: a progress number that grows by itself hides a stall, so Progress must be the number that the owner waits for.
internal sealed class StallWatch
{
    private const int LooksPerLimit = 10;

    // Not to look again and again if an alarm is a moment early.
    private static readonly TimeSpan LeastInterval = TimeSpan.FromMilliseconds(1);

    private readonly INodeEnvironment _environment;
    private readonly TimeSpan _limit;
    private readonly Action<List<Wait>> _collect;
    private readonly Action<object, TimeSpan> _began;
    private readonly Action<object, TimeSpan> _ended;
    private readonly Alarm _alarm;
    private readonly List<Wait> _waits = [];
    private readonly List<Watched> _watched = [];

    /// <param name="environment">The environment of the node.</param>
    /// <param name="limit">How long something may wait without progress.</param>
    /// <param name="collect">Adds everything that waits now, each owner once, and always in the same order.</param>
    /// <param name="began">Called once when a stall is found, with its duration so far.</param>
    /// <param name="ended">Called when a stall that was found is over, with its duration.</param>
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

    /// <summary>The number of stalls now.</summary>
    public int Stalled { get; private set; }

    /// <summary>Starts the watch if it rests, because something may wait.</summary>
    public void Look()
    {
        if (!_alarm.IsPending)
        {
            _environment.Schedule(_alarm, _limit / LooksPerLimit);
        }
    }

    /// <summary>This node stood still for so long, and so did its progress.</summary>
    public void OnPause(TimeSpan length)
    {
        var now = _environment.Now;
        foreach (var watched in _watched)
        {
            watched.Since = Pause.LeaveOut(length, watched.Since, now);
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

        if (_waits.Count > 0 && !_alarm.IsPending)
        {
            _environment.Schedule(_alarm, UntilNextLook(now));
        }

        _waits.Clear();
    }

    private TimeSpan UntilNextLook(TimeSpan now)
    {
        var next = _limit / LooksPerLimit;
        foreach (var watched in _watched)
        {
            var left = watched.Since + _limit - now;
            next = !watched.IsStalled && left < next ? left : next;
        }

        return next > LeastInterval ? next : LeastInterval;
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
