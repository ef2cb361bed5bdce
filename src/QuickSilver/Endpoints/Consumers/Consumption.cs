using QuickSilver.Core.Diagnostics;
using QuickSilver.Diagnostics;
using QuickSilver.Endpoints.Rings;
using QuickSilver.Endpoints.Subscriptions;
using QuickSilver.Membership.Views;

namespace QuickSilver.Endpoints.Consumers;

internal enum ConsumerOutcome
{
    Handled,
    Skipped,
    Failed,
    Abandoned,
}

// A consumer: the endpoint's reader, which calls the application for each message. Its intake takes messages from the endpoint's buffer. If
// one is handled at a time, the intake calls the consumer itself, and nothing is copied. Otherwise it passes them to workers.
//
// The intake and the workers are work items. Each is run by one thread at a time: by the one that ends what it waits for. So none needs a
// lock for its own fields.
internal sealed class Consumption<T> : IConsumption, IRingReader, IEndingConsumer, IThreadPoolWorkItem
{
    // After so many messages a part lets other work of the thread pool pass, and the core thread of a simulated node.
    public const int MessagesPerRun = 64;

    private enum Life
    {
        Running,
        // Takes no more messages, and handles those that it has taken.
        Stopping,
        // Handles no more either.
        Aborting,
    }

    private readonly TypedSubscription<T> _subscription;
    private readonly ReaderRing<T> _ring;
    private readonly Lock _lock = new();
    private readonly CancellationTokenSource _cancellation = new();
    private readonly TaskCompletionSource<SubscriptionEnd> _completion;
    // If one message is handled at a time; otherwise null.
    private readonly ConsumerCall<T>? _direct;
    private readonly ConsumerQueue<T>[] _queues = [];
    private readonly ConsumerWorker<T>[] _workers = [];
    private readonly long[] _outcomes = new long[Enum.GetValues<ConsumerOutcome>().Length];
    private readonly ConsumerCallScope _scope;
    // What was taken and is not handled. Its own lock, which also guards the next two, until all parts have ended.
    private readonly UnhandledMessages _abandoned = new();
    // What is not handled and not reported.
    private UnhandledMessages _unreported = new();
    private long _reported;
    // What the intake found in the ring when it left, for which there will be no other reader.
    private IReadOnlyList<GapNotice> _rest = [];
    private SubscriptionEnd? _end;
    private volatile Life _life;
    // The intake's last message, if it is not passed on yet.
    private Message<T> _held;
    private Exception? _heldFault;
    private ConsumerQueue<T>? _heldFor;
    private long _retried;
    // The intake, and the workers.
    private int _parts = 1;

    public Consumption(
        TypedSubscription<T> subscription,
        ReaderRing<T> ring,
        Func<Message<T>, CancellationToken, ValueTask> consumer,
        ConsumerOptions<T> options)
    {
        _subscription = subscription;
        _ring = ring;
        Consumer = consumer;
        Options = options;
        Token = _cancellation.Token;
        _scope = new ConsumerCallScope(this);
        _completion = new TaskCompletionSource<SubscriptionEnd>(subscription.Topic.Node.Completions);
        if (options.Concurrency == 1)
        {
            _direct = new ConsumerCall<T>(this, this);
            return;
        }

        int queues = options.KeyHash is null ? 1 : options.Concurrency;
        _queues = new ConsumerQueue<T>[queues];
        for (int i = 0; i < queues; i++)
        {
            _queues[i] = new ConsumerQueue<T>(options.Concurrency / queues);
        }

        _workers = new ConsumerWorker<T>[options.Concurrency];
        for (int i = 0; i < _workers.Length; i++)
        {
            _workers[i] = new ConsumerWorker<T>(this, _queues[i % queues]);
        }

        _parts += _workers.Length;
    }

    public Func<Message<T>, CancellationToken, ValueTask> Consumer { get; }

    public ConsumerOptions<T> Options { get; }

    public CancellationToken Token { get; }

    /// <summary>The name of the topic.</summary>
    public string Topic => _subscription.Name;

    public bool IsTracedByConsumer => _subscription.IsTracedByHandlers;

    public INodeNames Names => _subscription.Topic.Node.Names;

    public TimeProvider Time => _subscription.Topic.Node.OutsideTime;

    public bool ResumesInContext => _subscription.Topic.Node.ResumesInContext;

    public bool IsAborting => _life == Life.Aborting;

    public Task<SubscriptionEnd> Completion => _completion.Task;

    public long Handled => Read(ConsumerOutcome.Handled);

    public long Retried => Volatile.Read(ref _retried);

    public long Skipped => Read(ConsumerOutcome.Skipped);

    public long Failed => Read(ConsumerOutcome.Failed);

    public long Abandoned => Read(ConsumerOutcome.Abandoned);

    /// <summary>Called once, when the ring has this reader.</summary>
    public void Start()
    {
        foreach (var worker in _workers)
        {
            worker.Wake();
        }

        Wake();
    }

    public void RunBeside(IThreadPoolWorkItem work) => _subscription.Topic.Node.Environment.RunBeside(work);

    public void Wake() => RunBeside(this);

    public void Execute() => _scope.Run(static consumption => ((Consumption<T>)consumption!).Run(), this);

    /// <summary>Runs a part of this consumer, so that calls to end it can detect that they come from it.</summary>
    public void RunInside(ContextCallback part, object state) => _scope.Run(part, state);

    private void Run()
    {
        // Where TryStep returns false, another thread may already run this: nothing follows.
        for (int i = 0; i < MessagesPerRun; i++)
        {
            if (!TryStep())
            {
                return;
            }
        }

        Wake();
    }

    public async Task StopAsync(CancellationToken cancellationToken = default)
    {
        if (_life == Life.Running)
        {
            // The intake reads the ring to its end, which comes when the topic was left.
            _ = _subscription.LeaveAsync();
        }

        if (ConsumerCallScope.IsInside(this))
        {
            return;
        }

        try
        {
            await Completion.WaitAsync(cancellationToken).ConfigureAwait(ResumesInContext);
        }
        catch (OperationCanceledException)
        {
            await _subscription.LeaveNowAsync().ConfigureAwait(ResumesInContext);
            Abort();
            throw;
        }
    }

    /// <summary>
    /// Ends the consumer after the messages that it has taken. Its endpoint stays in the topic, and the others stay in the buffer.
    /// </summary>
    public void StopTaking() => End(new SubscriptionEnd(SubscriptionEndReason.Disposed, null), Life.Stopping);

    public void Dispose() => Abort();

    public ValueTask DisposeAsync()
    {
        Abort();
        return ConsumerCallScope.IsInside(this) ? ValueTask.CompletedTask : new ValueTask(Completion);
    }

    public void OnDiscarded() => End(SubscriptionEnd.Of(null, _subscription.Endpoint.State == EndpointState.Cancelled), Life.Aborting);

    public void Count(ConsumerOutcome outcome) => Interlocked.Increment(ref _outcomes[(int)outcome]);

    /// <summary>A message was taken, and will not be handled.</summary>
    public void OnAbandoned(NodeId sender, long sequence)
    {
        Count(ConsumerOutcome.Abandoned);
        lock (_abandoned)
        {
            _abandoned.Add(sender, sequence);
            _unreported.Add(sender, sequence);
        }
    }

    /// <summary>Any thread: what is not handled, but for what earlier calls returned. The caller reports it.</summary>
    public UnhandledMessages TakeUnreported()
    {
        lock (_abandoned)
        {
            var taken = _unreported;
            _unreported = new UnhandledMessages();
            _reported += taken.Count;
            return taken;
        }
    }

    public void CountRetry()
    {
        Interlocked.Increment(ref _retried);
        Interlocked.Increment(ref _subscription.Topic.Node.CounterCells.ConsumerRetries);
    }

    public void OnSkipped(Exception fault, in Message<T> message, int attempts)
    {
        var node = _subscription.Topic.Node;
        long skips = Interlocked.Increment(ref node.CounterCells.ConsumerSkips);
        if (RepeatedEvent.IsLogged(skips))
        {
            ApiLog.ConsumerSkipped(node.Log, fault, _subscription.Name, node.Named(message.Sender), message.Sequence, attempts, skips);
        }
    }

    public void OnFailed(Exception fault, in Message<T> message, int attempts)
    {
        var node = _subscription.Topic.Node;
        Interlocked.Increment(ref node.CounterCells.ConsumerFailures);
        ApiLog.ConsumerStopped(node.Log, fault, _subscription.Name, node.Named(message.Sender), message.Sequence, attempts);
        var failure = new ConsumerFailedException(
            _subscription.Name, typeof(T), node.Named(message.Sender), message.Sequence, attempts, fault);
        End(SubscriptionEnd.Of(failure, isCancelled: false), Life.Aborting);
    }

    /// <summary>Called by the intake and by each worker when it is run for the last time.</summary>
    public void OnPartEnded()
    {
        if (Interlocked.Decrement(ref _parts) > 0)
        {
            return;
        }

        var end = ReportRest();
        try
        {
            Options.OnEnded?.Invoke(end);
        }
        catch (Exception exception)
        {
            _subscription.Topic.Node.Run(() => _subscription.Topic.OnObserverFault(exception));
        }

        _completion.TrySetResult(end);
    }

    // Everything that was not handled is reported before the end, which has the number.
    private SubscriptionEnd ReportRest()
    {
        foreach (var gap in _abandoned.Ranges())
        {
            Notify(gap);
        }

        foreach (var gap in _rest)
        {
            Notify(gap);
        }

        _subscription.OnConsumerEnded(this);
        return _end!.Value with { Unhandled = _reported };
    }

    private long Read(ConsumerOutcome outcome) => Volatile.Read(ref _outcomes[(int)outcome]);

    // True: the intake continues. False: it is run again when there is something to do, or it has ended.
    private bool TryStep()
    {
        if (_direct is { IsPending: true })
        {
            return _direct.Continue();
        }

        if (_heldFor is not null)
        {
            return TryPass(_heldFor);
        }

        return _life == Life.Running ? TryTake() : EndIntake();
    }

    private bool TryTake()
    {
        RingTake taken;
        GapNotice gap;
        try
        {
            taken = _ring.Take(this, out _held, out gap);
        }
        catch (Exception error)
        {
            // The buffered messages were taken before.
            End(SubscriptionEnd.Of(error, isCancelled: false), Life.Stopping);
            return true;
        }

        switch (taken)
        {
            case RingTake.Message when _direct is not null:
                return _direct.Begin(_held);
            case RingTake.Message:
                return TryPass(ChooseQueue());
            case RingTake.Gap:
                lock (_abandoned)
                {
                    _unreported.Add(gap);
                }

                Notify(gap);
                return true;
            case RingTake.Ended:
                End(SubscriptionEnd.Of(null, _subscription.Endpoint.State == EndpointState.Cancelled), Life.Stopping);
                return true;
            default:
                // A call that ended the consumer before the ring knew of this wait could not end the wait.
                return _life != Life.Running && _ring.TryCancelWait(this);
        }
    }

    private ConsumerQueue<T> ChooseQueue()
    {
        if (Options.KeyHash is not { } keyHash)
        {
            return _queues[0];
        }

        try
        {
            // Fibonacci hashing: hashes of numbers differ in their low bits only.
            uint hash = unchecked((uint)keyHash(_held.Value) * 2_654_435_769);
            return _queues[(int)(((ulong)hash * (uint)_queues.Length) >> 32)];
        }
        catch (Exception exception)
        {
            _heldFault = exception;
            return _queues[0];
        }
    }

    private bool TryPass(ConsumerQueue<T> queue)
    {
        // Set before: when there is room, another thread runs the intake.
        _heldFor = queue;
        var added = IsAborting ? QueueAdd.Closed : queue.Add(_held, _heldFault);
        if (added == QueueAdd.Full)
        {
            return false;
        }

        if (added == QueueAdd.Closed)
        {
            OnAbandoned(_held.Sender, _held.Sequence);
        }

        _heldFor = null;
        _heldFault = null;
        _held = default;
        return true;
    }

    private bool EndIntake()
    {
        (_rest, bool isReported) = _subscription.DetachConsumer();
        lock (_abandoned)
        {
            if (isReported)
            {
                _reported += _rest.Where(static gap => gap.Reason == GapReason.SubscriberEnded).Sum(static gap => gap.Count);
            }
            else
            {
                _unreported.AddAll(_rest);
            }
        }

        _direct?.Dispose();
        foreach (var queue in _queues)
        {
            queue.Close(discard: IsAborting, OnAbandoned);
        }

        OnPartEnded();
        return false;
    }

    private void Abort() => End(new SubscriptionEnd(SubscriptionEndReason.Disposed, null), Life.Aborting);

    // Any thread. The first reason counts.
    private void End(SubscriptionEnd end, Life life)
    {
        lock (_lock)
        {
            _end ??= end;
            if (_life >= life)
            {
                return;
            }

            _life = life;
        }

        if (_ring.TryCancelWait(this))
        {
            Wake();
        }

        if (life == Life.Aborting)
        {
            Interrupt();
        }
    }

    private void Interrupt()
    {
        RunBeside(new Cancellation(this));
        _direct?.EndDelay();
        foreach (var worker in _workers)
        {
            worker.EndDelay();
        }

        foreach (var queue in _queues)
        {
            if (queue.Close(discard: true, OnAbandoned))
            {
                // The intake waited for this queue, and is run by this thread alone now. What it holds is known as abandoned at once.
                TryPass(queue);
                Wake();
            }
        }
    }

    private void Notify(in GapNotice gap)
    {
        try
        {
            Options.OnGap?.Invoke(gap.Named(Names));
        }
        catch (Exception exception)
        {
            var (sender, first) = (gap.Sender, gap.First);
            _subscription.Topic.Node.Run(() => _subscription.Topic.OnHandlerFault(exception, sender, first));
        }
    }

    // The token has callbacks of the application, which must not run on the core thread.
    private sealed class Cancellation(Consumption<T> consumption) : IThreadPoolWorkItem
    {
        public void Execute()
        {
            try
            {
                consumption._cancellation.Cancel();
            }
            catch (AggregateException exception)
            {
                consumption._subscription.Topic.Node.Run(() => consumption._subscription.Topic.OnObserverFault(exception));
            }
        }
    }
}
