using QuickSilver.Multicast.Stability;

namespace QuickSilver.Multicast.Repair;

// How long those who are asked take to answer a pull, and so when to ask again: late enough that few packets are asked for twice.
//
// Intuition: the answer to the only request says how long answers take. Application: where answers wait in a full card they come after
// the repeat, and of such a one it is not known which request it answers: but no less than since the last, and that counts where it is
// more than is known; and of one that never fails to answer the wait after a first request doubles until an answer comes in it (Karn
// and Partridge's rule). What goes wrong: it is dead, or answers are lost; so the wait is bounded.
/// <param name="options">The bounds.</param>
/// <param name="others">Whose answers are the measure until there are any here; null: the options are.</param>
internal sealed class PullClock(MulticastOptions options, PullClock? others = null)
{
    private const int MostDoublings = 8;
    // The wait after a first request grows to so many times what is known, or supposed.
    private const int MostPatience = 4;

    private SmoothedTime _answer;
    // The wait after a first request while none is answered in time; zero: they are.
    private TimeSpan _patience;
    private TimeSpan _lateAt = TimeSpan.MinValue;

    private TimeSpan Usual => _answer.Mean > TimeSpan.Zero ? _answer.Mean : options.PullRepeat;

    /// <summary>What was asked for so often has come, so long after the last request.</summary>
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

    /// <summary>What was asked for once, then, is asked for again. Those that were asked for before the last such count as one.</summary>
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

    /// <summary>The wait after a request, when it is the n-th for the packet.</summary>
    public TimeSpan Wait(int asked)
    {
        var wait = _answer.Mean > TimeSpan.Zero ? _answer.Mean + (_answer.Strays * 3) : others?.Wait(1) ?? options.PullRepeat;
        wait = wait > options.PullRepeatMin ? wait : options.PullRepeatMin;
        wait = asked == 1 && _patience > wait ? _patience : wait;
        // Of a long wait all is for the answer: only what is beyond it doubles.
        var step = wait < options.PullRepeat ? wait : options.PullRepeat;
        wait += step * ((1 << Math.Clamp(asked - 1, 0, MostDoublings)) - 1);
        return wait < options.PullRepeatMax ? wait : options.PullRepeatMax;
    }
}
