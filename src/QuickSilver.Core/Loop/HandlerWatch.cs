using Microsoft.Extensions.Logging;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Environment;

namespace QuickSilver.Core.Loop;

// Names what kept the core thread from its other work: a handler that blocks, the collector, or the compiler
// at a handler's first run. The last two look, from within, like the handler they happened to hit; without the distinction
// the log would blame the handler that ran. Where nothing ran, it was the collector, or the system did not run the process.
//
// A logger of the application that blocks is called by some step, too, and is named instead of it. The report of a pause goes to the same
// logger. So the pause that such a report causes is counted, and not reported: the reports would never end.
internal sealed class HandlerWatch(CoreCounters counters, Func<TimeSpan> totalGcPause, Func<TimeSpan> totalCompilation, ILogger logger)
{
    // A busy machine often does not run a process for a shorter time, and nothing of the protocol is late by it.
    private static readonly TimeSpan WarnAfter = TimeSpan.FromMilliseconds(250);

    // The steps whose compilation was logged. While a program starts, several methods of one step are compiled, each at its first run.
    private const int MostCompiled = 256;

    private readonly HashSet<string> _compiled = new(StringComparer.Ordinal);
    private readonly TimeSpan _gcPauseAtStart = totalGcPause();
    private TimeSpan _gcPauseSeen = totalGcPause();
    private TimeSpan _compilationSeen = totalCompilation();
    private ListenerShare _loggers = new(ListenerTime.InLoggers);
    private ListenerShare _listeners = new(ListenerTime.InListeners);
    private long _blockingListeners;

    /// <summary>Called once a turn, on the core thread: reads the collector's account and the compiler's.</summary>
    public void BeginTurn()
    {
        _gcPauseSeen = totalGcPause();
        _compilationSeen = totalCompilation();
        _loggers.BeginTurn(ListenerTime.InLoggers);
        _listeners.BeginTurn(ListenerTime.InListeners);
        counters.GcPauseTicks = (_gcPauseSeen - _gcPauseAtStart).Ticks;
    }

    /// <summary>For how long the collector has stopped the process since the turn began, as far as that was not reported.</summary>
    public TimeSpan CollectorPause => totalGcPause() - _gcPauseSeen;

    /// <summary>The thread stood still for so long in a step of this handler or, without one, between two steps.</summary>
    public PauseCause OnPause(object? handler, TimeSpan length) =>
        handler is null ? OnNotRunning(length) : OnLongStep(handler, length);

    private PauseCause OnNotRunning(TimeSpan length)
    {
        var inLoggers = _loggers.Take(ListenerTime.InLoggers);
        var pause = TakeGcPause();
        if (inLoggers > length / 2)
        {
            return PauseCause.Handler;
        }

        var level = length < WarnAfter ? LogLevel.Information : LogLevel.Warning;
        CoreLog.DidNotRun(logger, level, length.TotalMilliseconds, pause.TotalMilliseconds);
        return pause > length / 2 ? PauseCause.Collector : PauseCause.NotRunning;
    }

    private PauseCause OnLongStep(object handler, TimeSpan took)
    {
        var compilation = totalCompilation() - _compilationSeen;
        var inLoggers = _loggers.Take(ListenerTime.InLoggers);
        var inListeners = _listeners.Take(ListenerTime.InListeners);
        var pause = TakeGcPause();
        if (compilation > took / 2)
        {
            bool isFirst = _compiled.Count < MostCompiled && _compiled.Add(handler.ToString() ?? "");
            var level = isFirst ? LogLevel.Information : LogLevel.Debug;
            CoreLog.CompilerHeldThread(logger, level, handler, took.TotalMilliseconds, compilation.TotalMilliseconds);
            return PauseCause.Compiler;
        }

        if (pause > took / 2)
        {
            CoreLog.CollectorHeldThread(logger, handler, took.TotalMilliseconds, pause.TotalMilliseconds);
            return PauseCause.Collector;
        }

        if (inLoggers + inListeners > took / 2)
        {
            OnListener(handler, took, inLoggers, inListeners);
        }
        else
        {
            CoreLog.HandlerHeldThread(logger, handler, took.TotalMilliseconds);
        }

        return PauseCause.Handler;
    }

    // Ever more rarely, as each report may block as well.
    private void OnListener(object handler, TimeSpan took, TimeSpan inLoggers, TimeSpan inListeners)
    {
        if (RepeatedEvent.IsLogged(++_blockingListeners))
        {
            var longest = inLoggers > inListeners ? inLoggers : inListeners;
            string listener = inLoggers > inListeners ? "a logger of the application" : "a listener to meters or activities";
            CoreLog.ListenerHeldThread(logger, handler, took.TotalMilliseconds, longest.TotalMilliseconds, listener);
        }
    }

    private TimeSpan TakeGcPause()
    {
        var before = _gcPauseSeen;
        BeginTurn();
        return _gcPauseSeen - before;
    }

    // The part of an account that is not explained yet. It reaches back over the turn before this one: what its last step logged holds up
    // the beginning of this one.
    private struct ListenerShare(TimeSpan total)
    {
        private TimeSpan _from = total;
        private TimeSpan _turn = total;

        public void BeginTurn(TimeSpan total) => (_from, _turn) = (_turn, total);

        public TimeSpan Take(TimeSpan total)
        {
            var share = total - _from;
            _from = _turn = total;
            return share;
        }
    }
}
