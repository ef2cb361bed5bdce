using QuickSilver.Core.Alarms;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Environment;
using QuickSilver.Core.Requests;
using QuickSilver.Core.Transport;
using QuickSilver.Core.Transport.Datagrams;

namespace QuickSilver.Core.Loop;

// The work of a core thread, turn by turn: take completions and classify them, serve what came in by priority, fire alarms, execute
// requests, and then do what all of these have put off, which is mainly to send (000, section 3). Each kind of work has a quantum, so no
// kind delays the others for longer.
//
// The cycle neither blocks nor calls the system: its host provides the time, and the sources that have completions. Therefore the same
// cycle runs on a machine's core thread and, in virtual time, in the simulator.
internal sealed class DutyCycle(IDutyHost host, CompletionIntake intake, PriorityQueues queues, CoreCounters counters)
{
    // Runs of data received and not yet handled, beyond which the rest waits in the kernel: handlers are behind. Control is still looked
    // for, at the price of a run of data from each port; so there is a limit above which no port is asked.
    private const int LongestBacklogRuns = 64;
    private const int MostBacklogRuns = 2 * LongestBacklogRuns;

    private readonly AlarmQueue _alarms = new();
    private PauseWatch _watch = new(counters);
    private readonly List<IDatagramReceiver> _batch = [];
    private Quantum _inputQuantum = new(Quantum.InputShare);
    private Quantum _alarmQuantum = new(Quantum.AlarmShare);
    private Quantum _requestQuantum = new(Quantum.RequestShare);
    private Quantum _outputQuantum = new(Quantum.OutputShare);
    private bool _isRequestLeft;
    // When this turn looked at the ports, if it has taken all that waited there; otherwise the least time.
    private TimeSpan _allTakenAt = TimeSpan.MinValue;
    private TimeSpan _turnBegan;

    /// <summary>What any thread hands over.</summary>
    public RequestQueue Requests { get; } = new();

    /// <summary>The observers of pauses of the thread.</summary>
    public PauseObservers Pauses { get; } = new();

    /// <summary>Whether the last turn left something that needs no event to continue.</summary>
    public bool IsWorkLeft => !queues.IsEmpty || _isRequestLeft;

    private int BacklogRuns => queues.Count(WorkClass.InboundData) + queues.Count(WorkClass.InboundRepair);

    /// <summary>All that had reached the ports by this time was handed to its receivers.</summary>
    public TimeSpan CaughtUpAt { get; private set; }

    public bool TryPeekDue(out TimeSpan due) => _alarms.TryPeekDue(out due);

    public void Schedule(Alarm alarm, TimeSpan delay) => _alarms.Schedule(alarm, host.Now + delay);

    public void Cancel(Alarm alarm) => _alarms.Cancel(alarm);

    /// <summary>Puts work off to the end of this turn.</summary>
    public void Defer(WorkClass workClass, Request request) => queues.Enqueue(workClass, new CoreWork(request));

    /// <summary>
    /// A turn begins. The thread might rest until <paramref name="rested"/>: until then nothing was due. If it did not rest, that is the
    /// least time.
    /// </summary>
    public void BeginTurn(TimeSpan rested)
    {
        var now = host.Now;
        _turnBegan = now;
        Note(null, _watch.GoesOn(now, rested < now ? rested : now));
    }

    /// <summary>Takes what these sources have completed; how many runs. Runs that ports do not get rid of wait in the kernel.</summary>
    public int TakeIn(ReadOnlySpan<CompletionSource> completed)
    {
        bool takesRuns = BacklogRuns < MostBacklogRuns;
        int runs = 0;
        intake.Begin();
        foreach (var source in completed)
        {
            if (takesRuns || source is not PortSource)
            {
                runs += intake.Take(source, isBehind: BacklogRuns >= LongestBacklogRuns);
            }
        }

        _allTakenAt = takesRuns && intake.IsAllTaken ? _turnBegan : TimeSpan.MinValue;
        return runs;
    }

    /// <summary>Serves what was taken in, by priority, for a quantum.</summary>
    public void ServeInput()
    {
        if (!queues.IsAnyInbound)
        {
            NoteCaughtUp();
            return;
        }

        var began = Begin();
        var now = began;
        _inputQuantum.Begin(now);
        while (!_inputQuantum.IsOver(now) && queues.TryDequeueInbound(out var work, out var workClass))
        {
            now = NoteQueue(workClass, now, HandInput(work.Completion, now));
        }

        NoteCaughtUp();
        NoteQuantum(queues.IsAnyInbound);
        now = NoteQueue(WorkClass.InboundData, now, EndBatch(now));
        _watch.Worked(now);
        counters.InputTicks += (now - began).Ticks;
    }

    /// <summary>
    /// Does what was put off before, by priority, for a quantum. What this puts off waits for the next turn, so that the ports are read in
    /// between.
    /// </summary>
    public void ServeOutput()
    {
        int left = queues.Deferred;
        if (left == 0)
        {
            return;
        }

        var began = Begin();
        var now = began;
        _outputQuantum.Begin(now);
        while (left > 0 && !_outputQuantum.IsOver(now) && queues.TryDequeueDeferred(out var work, out var workClass))
        {
            left--;
            now = NoteQueue(workClass, now, ServeDeferred(work, now));
        }

        NoteQuantum(left > 0);
        _watch.Worked(now);
        counters.OutputTicks += (now - began).Ticks;
    }

    /// <summary>Fires the alarms that are due, for a quantum.</summary>
    public void FireAlarms()
    {
        if (_alarms.Count == 0)
        {
            return;
        }

        // Set before and due by now: an alarm that sets itself for at once comes with the next turn.
        var now = Begin();
        var turn = now;
        ulong mark = _alarms.Mark;
        _alarmQuantum.Begin(now);
        while (!_alarmQuantum.IsOver(now) && _alarms.TakeDue(turn, mark) is { } alarm)
        {
            NoteLateness(now - alarm.Due);
            try
            {
                alarm.Fire();
            }
            catch (Exception exception)
            {
                host.OnEscaped(exception, alarm);
            }

            now = EndStep(alarm, now);
        }

        NoteQuantum(_alarms.TryPeekDue(out var due) && due <= turn);
        _watch.Worked(now);
        counters.AlarmTicks += (now - turn).Ticks;
    }

    /// <summary>Executes requests until there are none or, unless all are to be executed, for a quantum.</summary>
    public void ExecuteRequests(bool untilEmpty = false)
    {
        _isRequestLeft = false;
        var request = Requests.TryDequeue();
        if (request is null)
        {
            return;
        }

        var began = Begin();
        var now = began;
        _requestQuantum.Begin(now);
        for (; request is not null; request = Requests.TryDequeue())
        {
            now = Execute(request, now);
            if (_requestQuantum.IsOver(now) && !untilEmpty)
            {
                _isRequestLeft = true;
                break;
            }
        }

        NoteQuantum(_isRequestLeft && Requests.IsAny);
        _watch.Worked(now);
        counters.RequestTicks += (now - began).Ticks;
    }

    /// <summary>Drops what was taken in, and all alarms: nothing of it happens any more, even where this is called in a turn.</summary>
    public void Drop()
    {
        _batch.Clear();
        while (_alarms.TakeDue(TimeSpan.MaxValue) is not null)
        {
        }

        while (queues.TryDequeue(out var work))
        {
            if (work.Request is null)
            {
                work.Completion.Drop();
            }
        }

        intake.Release();
    }

    private void NoteCaughtUp()
    {
        if (_allTakenAt > CaughtUpAt && !queues.IsAnyInbound)
        {
            CaughtUpAt = _allTakenAt;
        }
    }

    private TimeSpan Begin()
    {
        var now = host.Now;
        Note(null, _watch.GoesOn(now, TimeSpan.MinValue));
        return now;
    }

    private TimeSpan EndStep(object handler, TimeSpan began)
    {
        var ended = host.EndStep(handler, began);
        Note(handler, PauseWatch.Of(ended - began));
        return ended;
    }

    private void Note(object? handler, TimeSpan stoodStill)
    {
        if (stoodStill > TimeSpan.Zero)
        {
            OnPause(handler, stoodStill);
        }
    }

    private void OnPause(object? handler, TimeSpan length)
    {
        var pause = new Pause(length, host.OnPause(handler, length));
        _watch.Count(pause);
        try
        {
            Pauses.Report(pause);
        }
        catch (Exception exception)
        {
            host.OnEscaped(exception, Pauses);
        }
    }

    private TimeSpan HandInput(in Completion completion, TimeSpan began)
    {
        if (completion.Kind == CompletionKind.Run)
        {
            return HandRun(completion, began);
        }

        // What receivers do at the end of a batch is done before anything that is not a packet, as what a stream brings may change views.
        return Hand(completion, EndBatch(began));
    }

    private TimeSpan HandRun(in Completion completion, TimeSpan began)
    {
        var source = (PortSource)completion.Source;
        var run = completion.Run;
        try
        {
            // Runs of a port that closed meanwhile are dropped, as its receiver gets no more calls.
            if (!source.IsClosed)
            {
                NoteBatch(source.Receiver);
                host.BeginRun(source, run);
                source.Receiver.OnRun(new ReceivedRun(run.Lease, run.Offset, run.Length, source.Port));
            }
        }
        catch (Exception exception)
        {
            host.OnEscaped(exception, source);
        }

        run.Lease.Release();
        return EndStep(source, began);
    }

    private TimeSpan Hand(in Completion completion, TimeSpan began)
    {
        var source = completion.Source;
        try
        {
            if (!source.IsClosed)
            {
                source.OnCompletion(completion);
            }
        }
        catch (Exception exception)
        {
            host.OnEscaped(exception, source);
        }

        return EndStep(source, began);
    }

    private void NoteBatch(IDatagramReceiver receiver)
    {
        // Receivers are few, and mostly the last one again.
        if (_batch.Count == 0 || (!ReferenceEquals(_batch[^1], receiver) && !_batch.Contains(receiver)))
        {
            _batch.Add(receiver);
        }
    }

    private TimeSpan EndBatch(TimeSpan now)
    {
        // By index: a receiver may end the cycle.
        for (int i = 0; i < _batch.Count; i++)
        {
            var receiver = _batch[i];
            try
            {
                receiver.OnBatchEnd();
            }
            catch (Exception exception)
            {
                host.OnEscaped(exception, receiver);
            }

            now = EndStep(receiver, now);
        }

        _batch.Clear();
        return now;
    }

    private void NoteQuantum(bool isWorkLeft)
    {
        if (isWorkLeft)
        {
            counters.QuantaExceeded++;
        }
    }

    private TimeSpan NoteQueue(WorkClass workClass, TimeSpan began, TimeSpan ended)
    {
        counters.QueueTicks[(int)workClass] += (ended - began).Ticks;
        return ended;
    }

    private void NoteLateness(TimeSpan lateness)
    {
        counters.AlarmLateness.Add(lateness);
        if (lateness > CoreCounters.LateAlarm)
        {
            counters.LateAlarms++;
        }
    }

    private TimeSpan ServeDeferred(in CoreWork work, TimeSpan began) =>
        work.Request is { } request ? Execute(request, began) : Hand(work.Completion, began);

    private TimeSpan Execute(Request request, TimeSpan began)
    {
        try
        {
            request.Execute();
        }
        catch (Exception exception)
        {
            host.OnEscaped(exception, request);
        }

        return EndStep(request, began);
    }
}
