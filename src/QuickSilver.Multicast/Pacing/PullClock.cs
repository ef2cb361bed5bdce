using QuickSilver.Multicast.Nodes;

namespace QuickSilver.Multicast.Pacing;

// Measures how long answers to pulls take, and computes the wait until the next pull, so that few packets are requested twice.
//
// Intuition: the answer to a packet's only request shows how long answers take. Application: if answers wait in a full network card, they
// come after the second request, and then it is unknown which request they answer. The answer took at least the time since the last
// request, so that time counts if it is more than the current estimate. If no answer comes in time, the wait after a first request doubles
// until one does (Karn and Partridge's rule). What goes wrong: the peer may be dead, or answers may be lost, so the wait is bounded.
/// <param name="options">The bounds.</param>
/// <param name="others">The clock whose estimate is used until an answer is measured here; null: the options are used.</param>
internal sealed class PullClock(NodeOptions options, PullClock? others = null)
{
    private const int MostDoublings = 8;
    // The wait after a first request grows to at most so many times the estimate.
    private const int MostPatience = 4;

    private SmoothedTime _answer;
    // The wait after a first request while no answer comes in time; zero if answers do.
    private TimeSpan _patience;
    private TimeSpan _lateAt = TimeSpan.MinValue;

    private TimeSpan Usual => _answer.Mean > TimeSpan.Zero ? _answer.Mean : options.PullRepeat;

    /// <summary>An answer has come so long after the last of so many requests.</summary>
    public void OnAnswer(TimeSpan taken, int asked)
    {
        if (asked == 1)
        {
            _patience = TimeSpan.Zero;
            _answer.Add(taken);
        }
        else if (taken > Usual)
        {
            _answer.Add(taken);
        }
    }

    /// <summary>
    /// A packet that was requested once, at that time, is requested again. Packets that were requested before the last such event count as
    /// one.
    /// </summary>
    public void OnLate(TimeSpan askedAt, TimeSpan now)
    {
        if (askedAt >= _lateAt)
        {
            var most = (Usual > options.PullRepeat ? Usual : options.PullRepeat) * MostPatience;
            var longer = Wait(1) * 2;
            _patience = longer < most ? longer : most;
            _lateAt = now;
        }
    }

    /// <summary>The wait after the n-th request for a packet.</summary>
    public TimeSpan Wait(int asked)
    {
        var wait = _answer.Mean > TimeSpan.Zero ? _answer.Mean + (_answer.MeanDeviation * 3) : others?.Wait(1) ?? options.PullRepeat;
        wait = wait > options.PullRepeatMin ? wait : options.PullRepeatMin;
        wait = asked == 1 && _patience > wait ? _patience : wait;
        // A long wait is mostly the time that the answer takes, so only a short step doubles.
        var step = wait < options.PullRepeat ? wait : options.PullRepeat;
        wait += step * ((1 << Math.Clamp(asked - 1, 0, MostDoublings)) - 1);
        return wait < options.PullRepeatMax ? wait : options.PullRepeatMax;
    }
}
