using System.Diagnostics;
using System.Globalization;
using Microsoft.Extensions.Logging;
using QuickSilver.Core.Background;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Diagnostics;
using QuickSilver.Endpoints;
using QuickSilver.Endpoints.Subscriptions;

namespace QuickSilver.Nodes;

// Names the handler that blocks the core thread, while it does, and has its endpoint end.
//
// Intuition: the core thread cannot report what it is doing, so a timer beside it looks, and only when the pulse of the core thread is
// late. The timer does not depend on the thread pool, which may be blocked too. It is set from when a handler is first added. A handler
// counts its calls twice, when they begin and when they end, so the same odd count at two looks is one call that has not returned.
// Application: what happens to the endpoint is posted to the core thread, and happens as soon as the handler returns. What goes wrong: a
// handler that never returns keeps the core thread, so its node is removed by the membership service. It is named all the same. Time in
// which the process did not run is not counted, because the timer did not fire in it.
internal sealed class BlockingHandlers : IDisposable
{
    public static readonly TimeSpan Interval = TimeSpan.FromMilliseconds(500);

    private readonly TimeProvider _time;
    private readonly EndpointRegistry _endpoints;
    private readonly Func<TimeSpan> _lateness;
    private readonly NodeCounterCells _cells;
    private readonly ILogger _log;
    private readonly TimeSpan _limit;
    private readonly ITimer _timer;
    // The call that the last look found, and the number of looks since the first that did.
    private RunningHandler? _seen;
    private int _looks;
    private Trouble? _trouble;
    private int _hasBegun;
    private volatile bool _isDisposed;

    public BlockingHandlers(
        TimeProvider time, EndpointRegistry endpoints, Func<TimeSpan> lateness, TimeSpan limit, NodeCounterCells cells, ILogger log)
    {
        _time = time;
        _endpoints = endpoints;
        _lateness = lateness;
        _limit = limit;
        _cells = cells;
        _log = log;
        _timer = Detached.CreateTimer(time, static state => ((BlockingHandlers)state!).Look(), this);
    }

    /// <summary>The handler that blocks the core thread; null if there is none. From any thread.</summary>
    public Trouble? Trouble => Volatile.Read(ref _trouble);

    /// <summary>Begins to look, if it does not yet. From any thread.</summary>
    public void Begin()
    {
        if (Interlocked.Exchange(ref _hasBegun, 1) == 0)
        {
            _timer.Change(Interval, Timeout.InfiniteTimeSpan);
        }
    }

    public void Dispose()
    {
        _isDisposed = true;
        _timer.Dispose();
    }

    private void Look()
    {
        // The pulse comes once in an interval.
        var found = _lateness() > 2 * Interval ? _endpoints.FindRunning() : null;
        if (found is { } running && _seen is { } seen && running.IsSameCall(seen))
        {
            _looks++;
            OnBlocking(running, _looks * Interval);
        }
        else
        {
            _looks = 0;
            Volatile.Write(ref _trouble, null);
        }

        _seen = found;
        if (!_isDisposed)
        {
            _timer.Change(Interval, Timeout.InfiniteTimeSpan);
        }
    }

    private void OnBlocking(in RunningHandler running, TimeSpan time)
    {
        string name = running.Subscription.Name;
        string payload = running.Payload.ToString();
        string shown = time.TotalSeconds.ToString("0.0", CultureInfo.InvariantCulture);
        Volatile.Write(
            ref _trouble,
            new Trouble(
                TroubleKind.HandlerBlocks,
                $"The handler {running.Method} of topic \"{name}\" ({payload}) has blocked the core thread for {shown} s.",
                _time.GetUtcNow() - time,
                $"the handler {running.Method}"));
        if (_looks == 1)
        {
            Interlocked.Increment(ref _cells.BlockingHandlers);
            ApiLog.HandlerBlocks(_log, running.Method, name, payload);
        }

        // Once: at the first look that reaches the limit. A program that is stopped in a debugger is not punished for it.
        if (time >= _limit && time - Interval < _limit && !Debugger.IsAttached)
        {
            running.Subscription.OnHandlerTooSlow(running.Method, _limit);
        }
    }
}
