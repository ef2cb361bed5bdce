using Microsoft.Extensions.Logging;
using QuickSilver.Core.Diagnostics;

namespace QuickSilver.Core.Loop;

// Notices what keeps the core thread from its other work, and names it: a handler that blocks, the collector, or the compiler
// at a handler's first run. The last two look, from within, like the handler they happened to hit; without the distinction
// the log would blame whoever ran.
internal sealed class HandlerWatch(CoreCounters counters, Func<TimeSpan> totalGcPause, Func<TimeSpan> totalCompilation, ILogger logger)
{
    // Ten times this is the time in which neighbours begin to suspect a node; the original warned at the same.
    public static readonly TimeSpan LongStep = TimeSpan.FromMilliseconds(50);

    private readonly TimeSpan _gcPauseAtStart = totalGcPause();
    private TimeSpan _gcPauseSeen = totalGcPause();
    private TimeSpan _compilationSeen = totalCompilation();

    /// <summary>Called once a turn, on the core thread: reads the collector's account and the compiler's.</summary>
    public void BeginTurn()
    {
        _gcPauseSeen = totalGcPause();
        _compilationSeen = totalCompilation();
        counters.GcPauseTicks = (_gcPauseSeen - _gcPauseAtStart).Ticks;
    }

    /// <summary>A step is done; returns its end, which is the next one's beginning.</summary>
    public TimeSpan EndStep(object handler, TimeSpan began, TimeSpan ended)
    {
        if (ended - began > LongStep)
        {
            OnLongStep(handler, ended - began);
        }

        return ended;
    }

    /// <summary>The thread was to wake at <paramref name="due"/> and did at <paramref name="now"/>.</summary>
    public void Woke(TimeSpan due, TimeSpan now)
    {
        if (now - due > LongStep)
        {
            counters.LongSteps++;
            CoreLog.WokeLate(logger, (now - due).TotalMilliseconds, TakeGcPause().TotalMilliseconds);
        }
    }

    private void OnLongStep(object handler, TimeSpan took)
    {
        counters.LongSteps++;
        var compilation = totalCompilation() - _compilationSeen;
        var pause = TakeGcPause();
        if (compilation > took / 2)
        {
            CoreLog.CompilerHeldThread(logger, handler, took.TotalMilliseconds, compilation.TotalMilliseconds);
        }
        else if (pause > took / 2)
        {
            CoreLog.CollectorHeldThread(logger, handler, took.TotalMilliseconds, pause.TotalMilliseconds);
        }
        else
        {
            CoreLog.HandlerHeldThread(logger, handler, took.TotalMilliseconds);
        }
    }

    private TimeSpan TakeGcPause()
    {
        var before = _gcPauseSeen;
        BeginTurn();
        return _gcPauseSeen - before;
    }
}
