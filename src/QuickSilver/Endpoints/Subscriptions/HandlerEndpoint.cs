using QuickSilver.Core.Requests;
using QuickSilver.Diagnostics;
using QuickSilver.Multicast.Channels;
using QuickSilver.Serialization;

namespace QuickSilver.Endpoints.Subscriptions;

// The other callbacks of a handler, and its end. Most have none of them, and there are thousands of idle topics.
internal sealed class HandlerCallbacks(Action<GapNotice>? onGap, Action<SubscriptionEnd>? onEnded)
{
    // Null, the end, or what waits for it.
    private object? _end;

    public Action<GapNotice>? OnGap => onGap;

    public Action<SubscriptionEnd>? OnEnded => onEnded;

    public bool IsAwaited => Volatile.Read(ref _end) is TaskCompletionSource<SubscriptionEnd> { Task.IsCompleted: false };

    public Task<SubscriptionEnd> WhenEnded(TaskCreationOptions completions)
    {
        if (Volatile.Read(ref _end) is not { } known)
        {
            var begun = new TaskCompletionSource<SubscriptionEnd>(completions);
            known = Interlocked.CompareExchange(ref _end, begun, null) ?? begun;
        }

        return known is TaskCompletionSource<SubscriptionEnd> waiting ? waiting.Task : Task.FromResult((SubscriptionEnd)known);
    }

    /// <summary>Ignores a second call.</summary>
    public void End(SubscriptionEnd end)
    {
        if (Interlocked.CompareExchange(ref _end, end, null) is TaskCompletionSource<SubscriptionEnd> waiting)
        {
            waiting.TrySetResult(end);
        }
    }

    public static HandlerCallbacks? Of(Action<GapNotice>? onGap, Action<SubscriptionEnd>? onEnded) =>
        onGap is null && onEnded is null ? null : new HandlerCallbacks(onGap, onEnded);
}

// A handler on the core thread: the shortest path of a message. The endpoint counts and logs exceptions of the handler; the protocol never
// sees them.
//
// While it is the endpoint's only consumer, and the endpoint is the topic's only one, messages come here directly from their sender's
// SenderOrder. With thousands of topics, the objects that a message must read on its way cost more than its processing. The handler
// therefore has its own copies of what it needs of the endpoint.
internal sealed class HandlerEndpoint<T>(
    MessageHandler<T> handler,
    HandlerCallbacks? callbacks,
    TypedSubscription<T> subscription,
    IPayloadCodec<T> codec) : IDirectSink, ISubscription
{
    private readonly NodeCounterCells _counterCells = subscription.Topic.Node.CounterCells;
    private readonly string _topic = subscription.Name;
    private volatile bool _isDetached;
    private volatile bool _isAlone;
    private bool _isEnded;
    private HandlerCallbacks? _callbacks = callbacks;
    // Counts when a call begins, and again when it ends: odd while it runs.
    private int _calls;

    // Invariant: Dispose sets the flag before it looks for what waits, and this looks at the flag after it has begun to wait.
    public Task<SubscriptionEnd> Completion
    {
        get
        {
            var ended = Callbacks.WhenEnded(subscription.Topic.Node.Completions);
            if (_isDetached && !ended.IsCompleted)
            {
                _ = CompleteAfterCallAsync();
            }

            return ended;
        }
    }

    private HandlerCallbacks Callbacks =>
        LazyInitializer.EnsureInitialized(ref _callbacks, static () => new HandlerCallbacks(onGap: null, onEnded: null));

    public bool TryTake(in DeliveredMessage message)
    {
        if (!_isAlone)
        {
            return false;
        }

        MessageHandover<T>.HandTo(subscription, codec, _topic, this, message);
        return true;
    }

    /// <summary>Counts a message that came here directly, before the handler runs: it may block.</summary>
    public void CountDelivered(int bytes) => _counterCells.CountDelivered(bytes);

    public void Deliver(in Message<T> message)
    {
        if (_isDetached)
        {
            return;
        }

        _calls++;
        if (message.Origin.IsOnly(_topic) || subscription.IsTracedByHandlers)
        {
            Call(message);
        }
        else
        {
            var activity = MessageTracing.StartProcess(_topic, message, subscription.Topic.Node.Names);
            MessageTracing.End(activity, Call(message));
        }

        _calls++;
    }

    private Exception? Call(in Message<T> message)
    {
        try
        {
            handler(message);
            return null;
        }
        catch (Exception exception)
        {
            subscription.OnHandlerFault(exception, message.Sender, message.Sequence);
            return exception;
        }
    }

    /// <summary>
    /// Reads the data that <see cref="TryTake"/> and the handler will read first, to bring it into the cache, and has no other effect.
    /// </summary>
    public int Touch() => _isAlone && handler.Target is { } target && target.GetType() == typeof(object) ? 1 : 0;

    /// <summary>Sets whether messages may come here directly. Under the endpoint's lock.</summary>
    public void SetAlone(bool isAlone) => _isAlone = isAlone;

    public void Notify(in GapNotice gap)
    {
        if (_isDetached || Volatile.Read(ref _callbacks)?.OnGap is not { } onGap)
        {
            return;
        }

        _calls++;
        try
        {
            onGap(gap.Named(subscription.Topic.Node.Names));
        }
        catch (Exception exception)
        {
            subscription.OnHandlerFault(exception, gap.Sender, gap.First);
        }

        _calls++;
    }

    /// <summary>From any thread: the call that runs now; null if there is none.</summary>
    public RunningHandler? FindRunning()
    {
        int calls = Volatile.Read(ref _calls);
        return (calls & 1) == 0 ? null : new RunningHandler(subscription, this, calls, WrittenName.Of(handler.Method), typeof(T));
    }

    /// <summary>Called when the endpoint has ended: on the core thread, or afterwards. Ignores a second call.</summary>
    public void End(SubscriptionEnd end)
    {
        if (_isDetached || Interlocked.Exchange(ref _isEnded, true))
        {
            return;
        }

        try
        {
            Volatile.Read(ref _callbacks)?.OnEnded?.Invoke(end);
        }
        catch (Exception exception)
        {
            subscription.Topic.OnObserverFault(exception);
        }

        Callbacks.End(end);
    }

    public void Dispose()
    {
        _isDetached = true;
        subscription.Detach(this);
        Interlocked.MemoryBarrier();
        if (Volatile.Read(ref _callbacks)?.IsAwaited == true)
        {
            _ = CompleteAfterCallAsync();
        }
    }

    public ValueTask DisposeAsync()
    {
        Dispose();
        return new ValueTask(Completion);
    }

    // A call that runs now is before the core thread's next action.
    private async Task CompleteAfterCallAsync()
    {
        var node = subscription.Topic.Node;
        var passed = new TaskCompletionSource(node.Completions);
        node.Run(passed.SetResult);
        try
        {
            await node.UntilEndedAsync(passed.Task, CancellationToken.None).ConfigureAwait(node.ResumesInContext);
        }
        catch (ObjectDisposedException)
        {
            // The core thread has ended, and calls nothing any more.
        }

        Callbacks.End(new SubscriptionEnd(SubscriptionEndReason.Disposed, null));
    }
}
