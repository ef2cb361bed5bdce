using System.Diagnostics;
using System.Runtime;
using Microsoft.Extensions.Logging;
using QuickSilver.Core.Alarms;
using QuickSilver.Core.Background;
using QuickSilver.Core.Buffers;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Environment;
using QuickSilver.Core.Requests;
using QuickSilver.Core.Transport;
using QuickSilver.Core.Transport.Datagrams;
using QuickSilver.Core.Transport.Streams;

namespace QuickSilver.Core.Loop;

// The one thread that runs a node's protocol code: it turns a duty cycle over the machine's sockets, and blocks when a turn left no work.
//
// What protocols let escape is logged and counted; it never ends the thread.
internal sealed class CoreThread : IDutyHost, IStreamHost, IDisposable
{
    private readonly Thread _thread;
    private readonly IPoller _poller;
    private readonly CoreThreadOptions _options;
    private readonly ILogger _logger;
    private readonly CompletionIntake _intake;
    private readonly DutyCycle _cycle;
    private readonly HandlerWatch _watch;
    private readonly WakeModeration _moderation;
    private readonly BusyScheduling _scheduling = BusyScheduling.ForThisSystem();
    private readonly IdleWait _idle;
    private readonly Func<TimeSpan> _clock;
    private readonly List<DatagramSocket> _ports = [];
    // How many sources one look at the poller may name.
    private readonly CompletionSource[] _completed = new CompletionSource[64];
    private readonly long _origin = Stopwatch.GetTimestamp();
    private readonly Action? _onEnd;
    private volatile bool _isStopping;
    private volatile bool _hasEnded;
    private int _started;

    // onEnd is called on this thread when its last turn is over.
    public CoreThread(CoreThreadOptions options, SlabPool buffers, CoreCounters counters, ILogger logger, Action? onEnd = null)
    {
        _options = options;
        Counters = counters;
        _logger = logger;
        _onEnd = onEnd;
        _poller = options.NewPoller();
        var queues = new PriorityQueues();
        _intake = new CompletionIntake(buffers, queues, counters, logger);
        _cycle = new DutyCycle(this, _intake, queues, counters);
        _watch = new HandlerWatch(
            counters, GC.GetTotalPauseDuration, static () => JitInfo.GetCompilationTime(currentThread: true), logger);
        _moderation = new WakeModeration(options.LongestNap);
        _idle = new IdleWait(_poller, _intake, _moderation, counters);
        _clock = () => Now;
        _thread = new Thread(Run) { IsBackground = true, Name = options.Name };
    }

    public CoreCounters Counters { get; }

    /// <summary>The observers of pauses of this thread; on the core thread.</summary>
    public PauseObservers Pauses => _cycle.Pauses;

    /// <summary>On the core thread: all that had reached the ports by this time was handed to its receivers.</summary>
    public TimeSpan CaughtUpAt => _cycle.CaughtUpAt;

    /// <summary>Monotonic time since this object was made.</summary>
    public TimeSpan Now => Stopwatch.GetElapsedTime(_origin);

    public bool IsCurrent => ReferenceEquals(Thread.CurrentThread, _thread);

    public void Start()
    {
        if (Interlocked.Exchange(ref _started, 1) == 0)
        {
            Detached.Start(_thread);
        }
    }

    /// <summary>Hands work over; from any thread. What comes after Stop is dropped.</summary>
    public void Post(Request request)
    {
        if (!_hasEnded && _cycle.Requests.Enqueue(request))
        {
            _poller.Wake();
        }
    }

    /// <summary>Puts work off to the end of the turn; on the core thread.</summary>
    public void Defer(WorkClass workClass, Request request)
    {
        ThrowUnlessCurrent();
        _cycle.Defer(workClass, request);
    }

    public void Schedule(Alarm alarm, TimeSpan delay)
    {
        ThrowUnlessCurrent();
        _cycle.Schedule(alarm, delay);
    }

    public void Cancel(Alarm alarm)
    {
        ThrowUnlessCurrent();
        _cycle.Cancel(alarm);
    }

    IPoller IStreamHost.Poller => _poller;

    ILogger IStreamHost.Logger => _logger;

    void IStreamHost.After(TimeSpan delay, Action action) => _cycle.Schedule(new Alarm(action), delay);

    /// <summary>Has the source's completions taken, at the latest with the next turn; from any thread.</summary>
    public void Post(CompletionSource source) => _poller.Post(source);

    /// <summary>Takes charge of a port until it closes, and receives from it if it receives; on the core thread.</summary>
    public void Adopt(DatagramSocket port, IDatagramReceiver receiver, bool receives)
    {
        ThrowUnlessCurrent();
        if (receives)
        {
            _poller.Open(port, receiver);
        }

        _ports.Add(port);
        port.Closing += closing => _ports.Remove(closing);
    }

    /// <summary>Throws when called from any other thread.</summary>
    public void ThrowUnlessCurrent()
    {
        if (!IsCurrent)
        {
            throw new InvalidOperationException($"Call this on the core thread {_options.Name} only. From another thread, post a request.");
        }
    }

    /// <summary>Ends the thread after its present turn and what was posted before, and waits for that. Called on the core
    /// thread itself it only asks.</summary>
    public void Stop()
    {
        _isStopping = true;
        _poller.Wake();
        if (Interlocked.Exchange(ref _started, 1) == 0)
        {
            End();
        }
        else if (!IsCurrent)
        {
            _thread.Join();
        }
    }

    public void Dispose() => Stop();

    private void Run()
    {
        CoreLog.CoreThreadStarted(_logger, _options.Name, _poller.Name);
        try
        {
            // What a handler leaves behind in the execution context must not reach other handlers and log lines for the node's life.
            var context = ExecutionContext.Capture()!;
            while (!_isStopping)
            {
                Turn();
                ExecutionContext.Restore(context);
            }

            _hasEnded = true;
            _cycle.ExecuteRequests(untilEmpty: true);
            _cycle.ServeOutput();
        }
        catch (Exception exception)
        {
            CoreLog.CoreThreadFailed(_logger, exception, _options.Name);
        }

        End();
    }

    private void Turn()
    {
        _watch.BeginTurn();
        int sources = Poll(out var rested);
        _cycle.BeginTurn(rested);
        _moderation.Took(_cycle.TakeIn(_completed.AsSpan(0, sources)), Now);
        Array.Clear(_completed, 0, sources);

        _scheduling.Look(Now);
        _cycle.ServeInput();
        _cycle.FireAlarms();
        _cycle.ExecuteRequests();
        _cycle.ServeOutput();
    }

    // How many sources have completions, and until when the thread might rest. Blocks only when no work is left; a look at the sources
    // costs the same either way.
    private int Poll(out TimeSpan rested)
    {
        rested = TimeSpan.MinValue;
        if (_cycle.IsWorkLeft || _options.Spin)
        {
            return _poller.Wait(TimeSpan.Zero, _completed);
        }

        var now = Now;
        var due = _cycle.TryPeekDue(out var first) ? first : TimeSpan.MaxValue;
        if (due <= now || !_cycle.Requests.TryBeginSleep())
        {
            return _poller.Wait(TimeSpan.Zero, _completed);
        }

        int sources = _idle.Wait(_clock, due, _completed);
        var woke = Now;
        // The time of the collector is no rest: what came meanwhile waited.
        var rest = woke - _watch.CollectorPause;
        rested = due < rest ? due : rest;
        _scheduling.Slept(woke - now);
        _cycle.Requests.EndSleep();
        return sources;
    }

    void IDutyHost.BeginRun(PortSource port, in PlacedRun run)
    {
    }

    TimeSpan IDutyHost.EndStep(object handler, TimeSpan began) => Now;

    PauseCause IDutyHost.OnPause(object? handler, TimeSpan length) => _watch.OnPause(handler, length);

    void IDutyHost.OnEscaped(Exception exception, object handler) => OnEscaped(exception, handler);

    private void OnEscaped(Exception exception, object handler)
    {
        Counters.HandlerExceptions++;
        CoreLog.HandlerThrew(_logger, exception, handler);
    }

    private void End()
    {
        _hasEnded = true;
        try
        {
            _onEnd?.Invoke();
        }
        catch (Exception exception)
        {
            OnEscaped(exception, this);
        }

        while (_ports.Count > 0)
        {
            _ports[^1].Dispose();
        }

        _cycle.Drop();
        _poller.Dispose();
        CoreLog.CoreThreadStopped(_logger, _options.Name);
    }
}
