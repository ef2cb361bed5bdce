using System.Runtime.CompilerServices;
using Microsoft.Extensions.Logging;
using QuickSilver.Core.Background;
using QuickSilver.Diagnostics;
using QuickSilver.Endpoints;
using QuickSilver.Feeds;
using QuickSilver.Hosting.Consumption;

namespace QuickSilver.Hosting;

// A topic that is injected before the node has joined, and outlives an expelled one. While it is open each call goes
// straight to the node's endpoint; before that, calls wait and handlers and feeds are kept to be attached.
internal sealed class HostedTopic<T>(string name, TopicAccess access, TopicOptions options)
    : ITopic<T>, IHostedTopic, IDisposable
{
    private readonly Lock _lock = new();
    private readonly List<IAttachment<T>> _attachments = [];
    // Those that have ended too, until another is added: one that failed is a reason not to be ready.
    private readonly List<HostedConsumption<T>> _consumptions = [];
    private readonly HostedOpening<TopicEndpoint<T>> _opening = new();
    private readonly EndpointDrops _endpoints = new();
    // Null until the host has started.
    private volatile ILogger? _log;
    private volatile TimeProvider _time = TimeProvider.System;
    private bool _areReadersOver;
    // Null until the host has stopped.
    private ILogger? _endLog;

    public string Name => name;

    public bool IsOpen => Current is not null;

    public bool IsForConsumer { get; init; }

    public Exception? Fault => _opening.Fault;

    public (DateTimeOffset Since, string InWords)? ConsumerFault
    {
        get
        {
            lock (_lock)
            {
                return _consumptions.Find(static one => one.Fault is not null) is { } failed
                    ? (failed.EndedAt, $"The consumer {failed.Type} of topic \"{name}\" ({typeof(T)}) has stopped: {failed.Fault!.Message}")
                    : null;
            }
        }
    }

    public long Dropped => _endpoints.Dropped;

    public int Subscribers => Current?.Subscribers ?? 0;

    private TopicEndpoint<T>? Current => _opening.Current;

    private Task<TopicEndpoint<T>> Opened => _opening.Opened;

    public void OnHostStarted(ILogger log, TimeProvider time)
    {
        _time = time;
        _log = log;
    }

    public async Task OpenAsync(QuickSilverNode node, CancellationToken cancellationToken)
    {
        try
        {
            var topic = await node.OpenEndpointAsync<T>(name, access, options, stop: cancellationToken)
                .ConfigureAwait(SoleThreadContext.IsCurrent);
            lock (_lock)
            {
                _endpoints.Add(topic.Publication);
                _opening.Open(topic, AttachAll);
            }
        }
        catch (Exception exception) when (exception is not OperationCanceledException)
        {
            _opening.Fail(exception);
            throw;
        }
    }

    public void OnNodeLost()
    {
        lock (_lock)
        {
            _opening.Lose();
        }
    }

    public async Task<int> StopConsumersAsync(CancellationToken cancellationToken)
    {
        HostedConsumption<T>[] consumptions;
        lock (_lock)
        {
            consumptions = [.. _attachments.OfType<HostedConsumption<T>>()];
        }

        bool[] stopped = await Task.WhenAll(consumptions.Select(one => one.TryStopAsync(cancellationToken)))
            .ConfigureAwait(SoleThreadContext.IsCurrent);
        return stopped.Count(static done => !done);
    }

    public async Task<int> StopReadersAsync(CancellationToken cancellationToken)
    {
        HostedReader<T>[] readers;
        lock (_lock)
        {
            _areReadersOver = true;
            readers = [.. _attachments.OfType<HostedReader<T>>().Where(static one => !one.IsLate)];
        }

        bool[] stopped = await Task.WhenAll(readers.Select(one => one.TryStopAsync(cancellationToken)))
            .ConfigureAwait(SoleThreadContext.IsCurrent);
        return stopped.Count(static done => !done);
    }

    public void OnHostStopped(ILogger log)
    {
        HostedHandler[] handlers;
        HostedConsumption<T>[] consumptions;
        HostedReader<T>[] readers;
        lock (_lock)
        {
            _opening.End(AfterDispose.OfHost($"The topic \"{name}\""));
            _endLog = log;
            handlers = [.. _attachments.OfType<HostedHandler>()];
            consumptions = [.. _attachments.OfType<HostedConsumption<T>>()];
            readers = [.. _attachments.OfType<HostedReader<T>>()];
            _attachments.RemoveAll(handlers.Contains);
        }

        foreach (var handler in handlers)
        {
            Complete(() => handler.ReportEnd(new SubscriptionEnd(SubscriptionEndReason.Disposed, null)), log);
        }

        foreach (var consumption in consumptions)
        {
            consumption.OnHostStopped();
        }

        foreach (var reader in readers)
        {
            reader.OnHostStopped();
        }
    }

    public ValueTask PublishAsync(T value, CancellationToken cancellationToken = default) =>
        Current is { } topic
            ? topic.PublishAsync(value, cancellationToken)
            : PublishWhenOpenAsync(value, PublishCompletion.Accepted, cancellationToken);

    public ValueTask PublishAsync(in T value, CancellationToken cancellationToken = default) =>
        Current is { } topic
            ? topic.PublishAsync(in value, cancellationToken)
            : PublishWhenOpenAsync(value, PublishCompletion.Accepted, cancellationToken);

    public ValueTask PublishAsync(T value, PublishCompletion completion, CancellationToken cancellationToken = default) =>
        Current is { } topic
            ? topic.PublishAsync(value, completion, cancellationToken)
            : PublishWhenOpenAsync(value, completion, cancellationToken);

    public ValueTask PublishAsync(
        T value,
        MessageHeaders? headers,
        PublishCompletion completion = PublishCompletion.Accepted,
        CancellationToken cancellationToken = default) =>
        Current is { } topic
            ? topic.PublishAsync(value, headers, completion, cancellationToken)
            : PublishWhenOpenAsync(value, completion, cancellationToken, headers);

    public IAttachedFeed AttachFeed(FeedCallback<T> feed)
    {
        ArgumentNullException.ThrowIfNull(feed);
        return Attach(new HostedFeed(this, topic => topic.AttachFeed(feed)));
    }

    public IAttachedFeed AttachFeed(IMessageFeed<T> feed)
    {
        ArgumentNullException.ThrowIfNull(feed);
        return Attach(new HostedFeed(this, topic => topic.AttachFeed(feed)));
    }

    public ISubscription SubscribeInline(
        MessageHandler<T> handler, Action<GapNotice>? onGap = null, Action<SubscriptionEnd>? onEnded = null)
    {
        ArgumentNullException.ThrowIfNull(handler);
        return Attach(new HostedHandler(this, handler, onGap) { OnEnded = onEnded });
    }

    public IConsumption Subscribe(Func<Message<T>, CancellationToken, ValueTask> consumer, ConsumerOptions<T>? options = null) =>
        Subscribe(consumer, options, consumer?.Method.DeclaringType, resources: null);

    /// <summary>Subscribes a consumer of this type. <paramref name="resources"/> is disposed when it has ended.</summary>
    public IConsumption Subscribe(
        Func<Message<T>, CancellationToken, ValueTask> consumer, ConsumerOptions<T>? options, Type? type, IAsyncDisposable? resources)
    {
        ArgumentNullException.ThrowIfNull(consumer);
        options = options?.Copy() ?? new ConsumerOptions<T>();
        OptionRules.Check(options);
        var consumption = new HostedConsumption<T>(consumer, options, Detach, OnEndFault)
        {
            Type = type,
            Resources = resources,
            Now = () => _time.GetUtcNow(),
        };
        lock (_lock)
        {
            _consumptions.RemoveAll(static one => one.Completion.IsCompleted);
            _consumptions.Add(consumption);
        }

        return Attach(consumption);
    }

    // Its observers get the messages of each node in turn, and the end with the host's.
    public IObservable<Message<T>> AsObservable() => new HostedObservable(this);

    public async IAsyncEnumerable<Message<T>> ReadAllAsync(
        Action<GapNotice>? onGap = null, [EnumeratorCancellation] CancellationToken cancellationToken = default)
    {
        using var reader = BeginReader();
        if (await reader.Begin.WaitAsync(cancellationToken) is not { } topic)
        {
            yield break;
        }

        await foreach (var message in topic.ReadAllAsync(onGap, cancellationToken))
        {
            yield return message;
        }
    }

    public async Task WaitForSubscribersAsync(int count, CancellationToken cancellationToken = default)
    {
        OptionRules.CheckSubscribers(count);
        var topic = await Opened.WaitAsync(cancellationToken).ConfigureAwait(SoleThreadContext.IsCurrent);
        await topic.WaitForSubscribersAsync(count, cancellationToken).ConfigureAwait(SoleThreadContext.IsCurrent);
    }

    // Like a reader, it ends with the node: its application sees whom each node reached.
    public async IAsyncEnumerable<SubscriberChange> WatchSubscribersAsync(
        [EnumeratorCancellation] CancellationToken cancellationToken = default)
    {
        var topic = await Opened.WaitAsync(cancellationToken).ConfigureAwait(SoleThreadContext.IsCurrent);
        await foreach (var change in topic.WatchSubscribersAsync(cancellationToken).ConfigureAwait(SoleThreadContext.IsCurrent))
        {
            yield return change;
        }
    }

    public Task DrainAsync(CancellationToken cancellationToken = default) =>
        Current is { } topic ? topic.DrainAsync(cancellationToken) : Task.CompletedTask;

    public void Cancel() => Current?.Cancel();

    public ValueTask DisposeAsync() => Current is { } topic ? topic.DisposeAsync() : ValueTask.CompletedTask;

    // For a container that is not disposed asynchronously: the node, which ends with its lifetime, ends the topic.
    public void Dispose()
    {
    }

    private async ValueTask PublishWhenOpenAsync(
        T value, PublishCompletion completion, CancellationToken cancellationToken, MessageHeaders? headers = null)
    {
        var topic = await Opened.WaitAsync(cancellationToken).ConfigureAwait(SoleThreadContext.IsCurrent);
        await topic.PublishAsync(value, headers, completion, cancellationToken).ConfigureAwait(SoleThreadContext.IsCurrent);
    }

    private HostedReader<T> BeginReader()
    {
        lock (_lock)
        {
            return _endLog is null
                ? Attach(new HostedReader<T>(Detach) { IsLate = _areReadersOver })
                : throw AfterDispose.OfHost($"The topic \"{name}\"");
        }
    }

    private TAttachment Attach<TAttachment>(TAttachment attachment)
        where TAttachment : IAttachment<T>
    {
        lock (_lock)
        {
            if (Current is { } topic)
            {
                attachment.Attach(topic);
            }

            _attachments.Add(attachment);
        }

        return attachment;
    }

    private void AttachAll(TopicEndpoint<T> topic)
    {
        AttachHandlers(topic);
        foreach (var other in _attachments.Where(static one => one is not HostedHandler).ToArray())
        {
            other.Attach(topic);
        }
    }

    // Together: each of those that were here before the topic was open gets what it buffered while it was being opened.
    private void AttachHandlers(TopicEndpoint<T> topic)
    {
        HostedHandler[] handlers = [.. _attachments.OfType<HostedHandler>()];
        if (handlers.Length == 0)
        {
            return;
        }

        var attached = topic.SubscribeInlineTogether([.. handlers.Select(static one => (one.Handler, one.OnGap, one.OnEndedHere))]);
        for (int i = 0; i < handlers.Length; i++)
        {
            handlers[i].Attached = attached[i];
        }
    }

    private void Detach(IAttachment<T> attachment)
    {
        lock (_lock)
        {
            _attachments.Remove(attachment);
        }
    }

    private void OnEndFault(Exception exception)
    {
        if (_log is { } log)
        {
            HostingLog.ObserverThrew(log, exception, name);
        }
    }

    // An observer that throws must not keep the others, of this topic and of those after it, from being notified.
    private void Complete(Action onEnd, ILogger log)
    {
        try
        {
            onEnd();
        }
        catch (Exception exception)
        {
            HostingLog.ObserverThrew(log, exception, name);
        }
    }

    private sealed class HostedHandler(HostedTopic<T> owner, MessageHandler<T> handler, Action<GapNotice>? onGap)
        : IAttachment<T>, ISubscription
    {
        private readonly TaskCompletionSource<SubscriptionEnd> _completion = new(SoleThreadContext.Completions);
        private bool _isEnded;

        public MessageHandler<T> Handler => handler;

        public Action<GapNotice>? OnGap => onGap;

        /// <summary>Called when no message will come any more, on this node or another.</summary>
        public Action<SubscriptionEnd>? OnEnded { get; init; }

        /// <summary>Called at the end of its handler on one node.</summary>
        public Action<SubscriptionEnd> OnEndedHere => EndHere;

        public Task<SubscriptionEnd> Completion => _completion.Task;

        /// <summary>Under the owner's lock: what ends it on the present node.</summary>
        public ISubscription? Attached { get; set; }

        public void Attach(ITopic<T> topic) => Attached = topic.SubscribeInline(handler, onGap, OnEndedHere);

        public void ReportEnd(SubscriptionEnd end)
        {
            if (!Interlocked.Exchange(ref _isEnded, true))
            {
                try
                {
                    OnEnded?.Invoke(end);
                }
                finally
                {
                    _completion.TrySetResult(end);
                }
            }
        }

        // The next node continues where this one ended.
        private void EndHere(SubscriptionEnd end)
        {
            if (end.Reason is not (SubscriptionEndReason.NodeExpelled or SubscriptionEndReason.NodeStopped))
            {
                owner.Detach(this);
                ReportEnd(end);
            }
        }

        public void Dispose()
        {
            owner.Detach(this);
            Attached?.Dispose();
            _ = CompleteAsync();
        }

        public ValueTask DisposeAsync()
        {
            Dispose();
            return new ValueTask(Completion);
        }

        private async Task CompleteAsync()
        {
            if (Attached is { } attached)
            {
                await attached.Completion.ConfigureAwait(SoleThreadContext.IsCurrent);
            }

            _completion.TrySetResult(new SubscriptionEnd(SubscriptionEndReason.Disposed, null));
        }
    }

    private sealed class HostedObservable(HostedTopic<T> owner) : IObservable<Message<T>>
    {
        public IDisposable Subscribe(IObserver<Message<T>> observer)
        {
            ArgumentNullException.ThrowIfNull(observer);
            var handler = new HostedHandler(owner, (in Message<T> message) => observer.OnNext(message), onGap: null)
            {
                OnEnded = end => Complete(observer, end),
            };
            ILogger log;
            lock (owner._lock)
            {
                if (owner._endLog is null)
                {
                    return owner.Attach(handler);
                }

                log = owner._endLog;
            }

            owner.Complete(observer.OnCompleted, log);
            return handler;
        }

        private static void Complete(IObserver<Message<T>> observer, SubscriptionEnd end)
        {
            if (end.Error is { } error)
            {
                observer.OnError(error);
            }
            else
            {
                observer.OnCompleted();
            }
        }
    }

    private sealed class HostedFeed(HostedTopic<T> owner, Func<ITopic<T>, IAttachedFeed> attach)
        : IAttachment<T>, IAttachedFeed
    {
        private volatile IAttachedFeed? _attached;

        // A feed is pulled as soon as it is attached, so a signal before that is not lost.
        public void Attach(ITopic<T> topic) => _attached = attach(topic);

        public void Signal() => _attached?.Signal();

        public void Dispose()
        {
            owner.Detach(this);
            _attached?.Dispose();
        }
    }
}
