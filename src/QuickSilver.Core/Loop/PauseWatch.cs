using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Environment;

namespace QuickSilver.Core.Loop;

// Notices when a core thread stood still: when more time passed between two moments than its work explains.
//
// Intuition: a step that takes long is a pause for all others, whatever held it up. Between steps no time passes, except where the thread
// blocks; there it is to run again when something comes, or when the next alarm is due. What passes beyond that is a pause. Application:
// the duty cycle reports the end of each step and the beginning of what follows, and once a turn until when the thread might rest. What
// goes wrong: if no alarm was due, a pause while the thread rests is not noticed. Nothing of this node was late then either.
internal struct PauseWatch(CoreCounters counters)
{
    // Ten times this is the time in which neighbours begin to suspect a node; the original warned at the same.
    public static readonly TimeSpan Least = TimeSpan.FromMilliseconds(50);

    // Up to here the time is explained; at first, all of it is.
    private TimeSpan _explained = TimeSpan.MaxValue;

    /// <summary>Up to this moment the thread worked.</summary>
    public void Worked(TimeSpan until) => _explained = until;

    /// <summary>
    /// The thread continues at <paramref name="now"/> and might rest until <paramref name="rested"/>. Returns how long it stood still
    /// beyond that; zero if that is no pause.
    /// </summary>
    public TimeSpan GoesOn(TimeSpan now, TimeSpan rested)
    {
        var explained = rested > _explained ? rested : _explained;
        _explained = now;
        return Of(now - explained);
    }

    /// <summary>Returns how long a step has held up all others; zero if that is no pause.</summary>
    public static TimeSpan Of(TimeSpan time) => time > Least ? time : TimeSpan.Zero;

    public readonly void Count(in Pause pause)
    {
        counters.LongSteps++;
        counters.PauseTicks += pause.Length.Ticks;
        counters.LongestPauseTicks = Math.Max(counters.LongestPauseTicks, pause.Length.Ticks);
        switch (pause.Cause)
        {
            case PauseCause.NotRunning: counters.PausesNotRunning++; break;
            case PauseCause.Collector: counters.PausesOfCollector++; break;
            case PauseCause.Compiler: counters.PausesOfCompiler++; break;
            default: counters.PausesOfHandlers++; break;
        }
    }
}
