using System.Diagnostics;
using System.Runtime;
using Microsoft.Extensions.Logging;
using QuickSilver.Core.Alarms;
using QuickSilver.Core.Buffers;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Requests;
using QuickSilver.Core.Transport;

namespace QuickSilver.Core.Loop;

// The one thread that runs a node's protocol code. Its duty cycle is Turn, below: take in what the sockets hold and
// classify it, serve that by priority, fire alarms, execute requests, and block when there was nothing.
//
// What protocols let escape is logged and counted; it never ends the thread.
internal sealed class CoreThread : IDisposable
{
    // Runs received and not yet handled, beyond which the rest waits in the kernel: handlers are behind.
    private const int LongestBacklogRuns = 64;

    private readonly Thread _thread;
    private readonly IPoller _poller;
    private readonly CoreThreadOptions _options;
    private readonly ILogger _logger;
    private readonly RequestQueue _requests = new();
    private readonly AlarmQueue _alarms = new();
    private readonly PriorityQueues _queues = new();
    private readonly RunIntake _intake;
    private readonly HandlerWatch _watch;
    private readonly WakeModeration _moderation;
    private readonly BusyScheduling _scheduling = BusyScheduling.ForThisSystem();
    private readonly IdleWait _idle;
    private readonly Func<TimeSpan> _clock;
    private readonly List<PortSlot> _ports = [];
    private readonly List<IDatagramReceiver> _batch = [];
    private readonly IReadySource[] _ready = new IReadySource[64];
    private readonly long _origin = Stopwatch.GetTimestamp();
    private readonly Action? _onEnd;
    private Quantum _inputQuantum = new(Quantum.InputShare);
    private Quantum _alarmQuantum = new(Quantum.AlarmShare);
    private Quantum _requestQuantum = new(Quantum.RequestShare);
    private bool _isRequestLeft;
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
        _poller = Poller.Create(options.Poller);
        _intake = new RunIntake(buffers, _queues, counters, logger);
        _watch = new HandlerWatch(
            counters, GC.GetTotalPauseDuration, static () => JitInfo.GetCompilationTime(currentThread: true), logger);
        _moderation = new WakeModeration(options.LongestNap);
        _idle = new IdleWait(_poller, _intake, _watch, _moderation, counters);
        _clock = () => Now;
        _thread = new Thread(Run) { IsBackground = true, Name = options.Name };
    }

    public CoreCounters Counters { get; }

    /// <summary>Monotonic time since this object was made.</summary>
    public TimeSpan Now => Stopwatch.GetElapsedTime(_origin);

    public bool IsCurrent => ReferenceEquals(Thread.CurrentThread, _thread);

    public void Start()
    {
        if (Interlocked.Exchange(ref _started, 1) == 0)
        {
            _thread.Start();
        }
    }

    /// <summary>Hands work over; from any thread. What comes after Stop is dropped.</summary>
    public void Post(Request request)
    {
        if (!_hasEnded && _requests.Enqueue(request))
        {
            _poller.Wake();
        }
    }

    /// <summary>Puts work off until what is more urgent is done; on the core thread.</summary>
    public void Defer(WorkClass workClass, Request request)
    {
        ThrowUnlessCurrent();
        _queues.Enqueue(workClass, new CoreWork(request));
    }

    public void Schedule(Alarm alarm, TimeSpan delay)
    {
        ThrowUnlessCurrent();
        _alarms.Schedule(alarm, Now + delay);
    }

    public void Cancel(Alarm alarm)
    {
        ThrowUnlessCurrent();
        _alarms.Cancel(alarm);
    }

    /// <summary>Takes charge of a port until it closes, and receives from it if it receives; on the core thread.</summary>
    public void Adopt(DatagramSocket port, IDatagramReceiver receiver, bool receives)
    {
        ThrowUnlessCurrent();
        var slot = new PortSlot(port, receiver);
        if (receives)
        {
            _poller.Register(port.Socket, slot);
        }

        _ports.Add(slot);
        port.Closing = closing =>
        {
            _ports.Remove(slot);
            _poller.Unregister(closing.Socket);
        };
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
            while (!_isStopping)
            {
                Turn();
            }

            _hasEnded = true;
            ExecuteRequests();
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
        int ready = Poll();
        if (_queues.Count(WorkClass.InboundData) < LongestBacklogRuns)
        {
            TakeIn(ready);
        }

        ServeQueues();
        FireAlarms();
        ExecuteRequests();
    }

    // How many sockets are ready. Blocks only when no work is left; a look at the sockets costs the same either way.
    private int Poll()
    {
        if (!_queues.IsEmpty || _isRequestLeft || _options.Spin)
        {
            return _poller.Wait(TimeSpan.Zero, _ready);
        }

        var now = Now;
        var due = _alarms.TryPeekDue(out var first) ? first : TimeSpan.MaxValue;
        if (due <= now || !_requests.TryBeginSleep())
        {
            return _poller.Wait(TimeSpan.Zero, _ready);
        }

        int ready = _idle.Wait(_clock, due, _ready);
        _scheduling.Slept(Now - now);
        _requests.EndSleep();
        return ready;
    }

    private void TakeIn(int ready)
    {
        int runs = 0;
        for (int i = 0; i < ready; i++)
        {
            runs += _intake.Receive((PortSlot)_ready[i]);
            _ready[i] = null!;
        }

        _moderation.Took(runs, Now);
    }

    private void ServeQueues()
    {
        var now = Now;
        _scheduling.Look(now);
        _inputQuantum.Begin(now);
        while (!_inputQuantum.IsOver(now) && _queues.TryDequeue(out var work))
        {
            now = work.Lease is { } lease ? HandRun(work, lease, now) : Execute(work.Request, now);
        }

        EndBatch(now);
    }

    private TimeSpan HandRun(in CoreWork work, Lease lease, TimeSpan began)
    {
        var slot = work.Port;
        try
        {
            // Runs of a port that closed meanwhile are dropped, as its receiver is told nothing any more.
            if (!slot.Port.IsClosed)
            {
                NoteBatch(slot.Receiver);
                slot.Receiver.OnRun(new ReceivedRun(lease, work.Offset, work.Length, slot.Port));
            }
        }
        catch (Exception exception)
        {
            OnEscaped(exception, slot);
        }

        lease.Release();
        return _watch.EndStep(slot, began, Now);
    }

    private void NoteBatch(IDatagramReceiver receiver)
    {
        // Receivers are few, and mostly the last one again.
        if (_batch.Count == 0 || (!ReferenceEquals(_batch[^1], receiver) && !_batch.Contains(receiver)))
        {
            _batch.Add(receiver);
        }
    }

    private void EndBatch(TimeSpan now)
    {
        foreach (var receiver in _batch)
        {
            try
            {
                receiver.OnBatchEnd();
            }
            catch (Exception exception)
            {
                OnEscaped(exception, receiver);
            }

            now = _watch.EndStep(receiver, now, Now);
        }

        _batch.Clear();
    }

    private void FireAlarms()
    {
        if (_alarms.Count == 0)
        {
            return;
        }

        // Due by now: an alarm that sets itself for at once comes with the next turn.
        var now = Now;
        var turn = now;
        _alarmQuantum.Begin(now);
        while (!_alarmQuantum.IsOver(now) && _alarms.TakeDue(turn) is { } alarm)
        {
            try
            {
                alarm.Fire();
            }
            catch (Exception exception)
            {
                OnEscaped(exception, alarm);
            }

            now = _watch.EndStep(alarm, now, Now);
        }
    }

    private void ExecuteRequests()
    {
        _isRequestLeft = false;
        var request = _requests.TryDequeue();
        if (request is null)
        {
            return;
        }

        var now = Now;
        _requestQuantum.Begin(now);
        for (; request is not null; request = _requests.TryDequeue())
        {
            now = Execute(request, now);
            if (_requestQuantum.IsOver(now) && !_hasEnded)
            {
                _isRequestLeft = true;
                return;
            }
        }
    }

    private TimeSpan Execute(Request request, TimeSpan began)
    {
        try
        {
            request.Execute();
        }
        catch (Exception exception)
        {
            OnEscaped(exception, request);
        }

        return _watch.EndStep(request, began, Now);
    }

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
            _ports[^1].Port.Dispose();
        }

        while (_queues.TryDequeue(out var work))
        {
            work.Lease?.Release();
        }

        _intake.Release();
        _poller.Dispose();
        CoreLog.CoreThreadStopped(_logger, _options.Name);
    }
}
