using System.Diagnostics;
using System.Runtime.CompilerServices;
using QuickSilver.Core.Background;
using QuickSilver.Diagnostics;

namespace QuickSilver.Endpoints.Consumers;

// The handling of one message at a time: the calls of the consumer, the waits before retries, and the dead letter. It is a state machine
// of its own, because an asynchronous method would allocate for each message that waits.
//
// Begin and Continue return true when the message is finished. Otherwise the worker is run again when the wait is over, maybe at once and
// on another thread. The caller must then touch nothing any more.
internal sealed class ConsumerCall<T> : IDisposable
{
    private enum Step
    {
        None,
        Call,
        // The consumer has returned, or its task has completed.
        Called,
        Fault,
        DeadLettered,
    }

    private readonly Consumption<T> _consumption;
    private readonly IThreadPoolWorkItem _worker;
    private readonly Action _resume;
    private ConfiguredValueTaskAwaitable.ConfiguredValueTaskAwaiter _awaiter;
    private Message<T> _message;
    private Exception? _fault;
    // Of the call that runs, if the message carries a trace.
    private Activity? _activity;
    private ITimer? _timer;
    private Step _step;
    private int _attempts;
    // 1 during a wait before a retry. The thread that sets it back runs the worker.
    private int _isDelayed;

    public ConsumerCall(Consumption<T> consumption, IThreadPoolWorkItem worker)
    {
        _consumption = consumption;
        _worker = worker;
        _resume = RunWorker;
    }

    /// <summary>Whether a message was begun and is not finished.</summary>
    public bool IsPending => _step != Step.None;

    /// <summary>Begins a message. <paramref name="fault"/> is not null if its key could not be read.</summary>
    public bool Begin(in Message<T> message, Exception? fault = null)
    {
        _message = message;
        _attempts = 0;
        _fault = fault;
        _step = fault is null ? Step.Call : Step.Fault;
        return Continue();
    }

    public bool Continue()
    {
        while (true)
        {
            bool goesOn = true;
            switch (_step)
            {
                case Step.Call:
                    goesOn = Call();
                    break;
                case Step.Called:
                    FinishCall();
                    break;
                case Step.Fault:
                    goesOn = OnFault();
                    break;
                case Step.DeadLettered:
                    FinishDeadLetter();
                    break;
                default:
                    _message = default;
                    _fault = null;
                    _awaiter = default;
                    return true;
            }

            if (!goesOn)
            {
                return false;
            }
        }
    }

    /// <summary>Any thread: ends a wait before a retry.</summary>
    public void EndDelay()
    {
        if (Interlocked.Exchange(ref _isDelayed, 0) == 1)
        {
            RunWorker();
        }
    }

    public void Dispose() => _timer?.Dispose();

    // Never continues where the consumer's task is completed, which may be the core thread, or a thread that has other work to do.
    private void RunWorker() => _consumption.RunBeside(_worker);

    private bool Call()
    {
        if (_consumption.IsAborting)
        {
            return End(ConsumerOutcome.Abandoned);
        }

        _attempts++;
        try
        {
            return Await(StartConsumer(), Step.Called);
        }
        catch (Exception exception)
        {
            OnCallFault(exception);
            return true;
        }
    }

    private ValueTask StartConsumer()
    {
        if (_message.Origin.IsOnly(_consumption.Topic) || _consumption.IsTracedByConsumer)
        {
            return _consumption.Consumer(_message, _consumption.Token);
        }

        var outer = Activity.Current;
        _activity = MessageTracing.StartProcess(_consumption.Topic, _message, _consumption.Names);
        try
        {
            return _consumption.Consumer(_message, _consumption.Token);
        }
        finally
        {
            // The worker continues with other messages while the consumer waits.
            Activity.Current = outer;
        }
    }

    private void OnCallFault(Exception exception)
    {
        EndActivity(exception);
        _fault = exception;
        _step = Step.Fault;
    }

    private void EndActivity(Exception? fault)
    {
        if (_activity is { } activity)
        {
            _activity = null;
            MessageTracing.End(activity, fault);
        }
    }

    private bool Await(ValueTask task, Step next)
    {
        _step = next;
        // A copy: the field is another thread's as soon as the worker can be run.
        var awaiter = task.ConfigureAwait(_consumption.ResumesInContext).GetAwaiter();
        _awaiter = awaiter;
        if (awaiter.IsCompleted)
        {
            return true;
        }

        awaiter.UnsafeOnCompleted(_resume);
        return false;
    }

    private void FinishCall()
    {
        try
        {
            _awaiter.GetResult();
            EndActivity(fault: null);
            End(ConsumerOutcome.Handled);
        }
        catch (Exception exception)
        {
            OnCallFault(exception);
        }
    }

    private bool OnFault()
    {
        if (_consumption.IsAborting)
        {
            return End(ConsumerOutcome.Abandoned);
        }

        var errors = _consumption.Options.OnError;
        if (_attempts > 0 && _attempts <= errors.Retries)
        {
            _consumption.CountRetry();
            _step = Step.Call;
            var delay = errors.DelayAfter(_attempts);
            return delay <= TimeSpan.Zero || Delay(delay);
        }

        if (errors.StopsConsumer)
        {
            return Fail(_fault!);
        }

        if (_consumption.Options.OnDeadLetter is not { } onDeadLetter)
        {
            return Skip();
        }

        try
        {
            return Await(onDeadLetter(new DeadLetter<T>(_message, _fault!, _attempts), _consumption.Token), Step.DeadLettered);
        }
        catch (Exception exception)
        {
            return Fail(exception);
        }
    }

    // Always false: the worker is run again when the time has passed, or when the consumer is aborted.
    private bool Delay(TimeSpan delay)
    {
        Interlocked.Exchange(ref _isDelayed, 1);
        _timer ??= Detached.CreateTimer(_consumption.Time, static state => ((ConsumerCall<T>)state!).EndDelay(), this);
        _timer.Change(delay, Timeout.InfiniteTimeSpan);
        if (_consumption.IsAborting)
        {
            EndDelay();
        }

        return false;
    }

    private void FinishDeadLetter()
    {
        try
        {
            _awaiter.GetResult();
            Skip();
        }
        catch (Exception exception)
        {
            Fail(exception);
        }
    }

    private bool Skip()
    {
        _consumption.OnSkipped(_fault!, _message, _attempts);
        return End(ConsumerOutcome.Skipped);
    }

    private bool Fail(Exception exception)
    {
        if (_consumption.IsAborting)
        {
            return End(ConsumerOutcome.Abandoned);
        }

        _consumption.OnFailed(exception, _message, _attempts);
        return End(ConsumerOutcome.Failed);
    }

    private bool End(ConsumerOutcome outcome)
    {
        if (outcome == ConsumerOutcome.Abandoned)
        {
            _consumption.OnAbandoned(_message.Sender, _message.Sequence);
        }
        else
        {
            _consumption.Count(outcome);
        }

        _step = Step.None;
        return true;
    }
}
