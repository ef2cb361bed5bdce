using System.Net;
using QuickSilver.Core.Alarms;
using QuickSilver.Core.Background;
using QuickSilver.Diagnostics;
using QuickSilver.Endpoints;
using QuickSilver.Endpoints.Consumers;
using QuickSilver.Membership.Client;
using QuickSilver.Membership.Protocol.Requests;
using QuickSilver.Serialization;

namespace QuickSilver.Prefixes;

// All topics whose names begin alike, subscribed as one.
//
// Intuition: the membership service knows which topics are published. It reports those with the prefix to this node, and this node opens
// each as any subscriber does. Application: a consumer for each topic, so that the order within a topic is that of any consumer. A topic
// counts while a node publishes it, because this node's own subscription keeps it open as well. What goes wrong: the service fails over (it
// reports all again, and topics whose publishers are not back yet are kept for a while); a topic has another type (it is reported, and
// tried again when its publishers change); a topic goes and comes back while its last messages are handled (the new subscription waits for
// them).
//
// Invariant: at most MaxTopics topics are not closed.
internal sealed class TopicPrefix<T> : ITopicPrefix
{
    private static readonly TimeSpan DisposeLimit = TimeSpan.FromSeconds(1);

    private readonly QuickSilverNode _node;
    private readonly IEndpointNode _core;
    private readonly Func<TopicFollows> _follows;
    private readonly IPayloadCodec<T> _codec;
    private readonly Func<string, Message<T>, CancellationToken, ValueTask> _handler;
    private readonly PrefixOptions<T> _options;
    private readonly TopicFollow _follow;
    private readonly Alarm _alarm;
    private readonly TaskCompletionSource _opened;
    private readonly TaskCompletionSource<SubscriptionEnd> _completion;
    // A thread that reads the topics holds it; the core thread holds it to change what it reads.
    private readonly Lock _lock = new();
    // In the order of their coming.
    private readonly List<PrefixedTopic<T>> _topics = [];
    private readonly Dictionary<string, PrefixedTopic<T>> _byName = new(StringComparer.Ordinal);
    // Those that are closed and whose last messages are handled.
    private readonly Dictionary<string, PrefixedTopic<T>> _closing = new(StringComparer.Ordinal);
    // Cancelled when the end of the node is of no interest any more.
    private readonly CancellationTokenSource _over = new();
    private CancellationTokenRegistration _nodeEnd;
    private int _beyond;
    private int _opening;
    private bool _isWhole;
    // Null while the prefix is open.
    private SubscriptionEnd? _end;
    private Task? _disposal;

    /// <param name="node">The node.</param>
    /// <param name="core">Its interface for endpoints.</param>
    /// <param name="follows">The prefixes that the node follows. Called on the core thread.</param>
    /// <param name="codec">The codec of each topic.</param>
    /// <param name="use">The prefix, and what is done with its topics; checked.</param>
    public TopicPrefix(QuickSilverNode node, IEndpointNode core, Func<TopicFollows> follows, IPayloadCodec<T> codec, PrefixUse<T> use)
    {
        _node = node;
        _core = core;
        _follows = follows;
        _codec = codec;
        _handler = use.Handler;
        _options = use.Options;
        _follow = new TopicFollow(use.Prefix, use.Options.MaxTopics, OnNews) { Unanswered = OnUnanswered };
        _alarm = new Alarm(CloseWhatIsDue);
        _opened = new TaskCompletionSource(core.Completions);
        _completion = new TaskCompletionSource<SubscriptionEnd>(core.Completions);
    }

    public string Prefix => _follow.Prefix;

    public int Beyond => Volatile.Read(ref _beyond);

    public Task<SubscriptionEnd> Completion => _completion.Task;

    public IReadOnlyList<PrefixTopic> Topics
    {
        get
        {
            lock (_lock)
            {
                return [.. _topics.Select(static topic => topic.ToPrefixTopic())];
            }
        }
    }

    /// <summary>Begins, and waits until all topics that there are have been opened or refused.</summary>
    public async Task<ITopicPrefix> OpenAsync(CancellationToken cancellationToken)
    {
        _core.Run(() =>
        {
            if (_end is null && !_follows().TryAdd(_follow))
            {
                _opened.TrySetException(new InvalidOperationException(
                    $"The prefix \"{Prefix}\" cannot be opened: this node has {FollowTopicsMessage.MostPerMember} prefixes open, which is "
                    + "the limit. Dispose one of them, or subscribe to what several of them begin with."));
            }
        });
        EndWithNode();
        try
        {
            await _core.UntilEndedAsync(_opened.Task, cancellationToken).ConfigureAwait(_core.ResumesInContext);
            return this;
        }
        catch
        {
            await DisposeAsync().ConfigureAwait(_core.ResumesInContext);
            throw;
        }
    }

    public void Dispose() => _ = DisposeAsync().AsTask();

    public ValueTask DisposeAsync()
    {
        lock (_lock)
        {
            _disposal ??= DisposeOnceAsync();
            return new ValueTask(_disposal);
        }
    }

    private async Task DisposeOnceAsync()
    {
        bool isInside = _topics.Exists(static topic => ConsumerCallScope.IsInside(topic.Consumption));
        _core.Run(() => CloseAll(new SubscriptionEnd(SubscriptionEndReason.Disposed, null)));
        if (isInside)
        {
            // A handler that waited for the end would wait for itself.
            return;
        }

        try
        {
            await Completion.WaitAsync(DisposeLimit, _core.OutsideTime).ConfigureAwait(_core.ResumesInContext);
        }
        catch (TimeoutException)
        {
            // A handler that does not return does not delay a call that disposes.
        }
    }

    // Nothing waits here: a wait would continue in the context of a caller that ends with the node.
    private void EndWithNode()
    {
        _nodeEnd = _core.Ended.UnsafeRegister(
            static (prefix, _) => ((TopicPrefix<T>)prefix!).OnNodeStopped(AfterDispose.OfNode()), this);
        _ = Detached.Continue(_node.Expulsion, OnExpelled, _over.Token);
    }

    private void OnExpelled()
    {
        var expelled = _node.EndOfLife!;
        _opened.TrySetException(expelled);
        _core.Run(() => CloseAll(SubscriptionEnd.Of(expelled, isCancelled: false)));
    }

    // The endpoints have ended with the node.
    private void OnNodeStopped(ObjectDisposedException stopped)
    {
        _opened.TrySetException(stopped);
        _completion.TrySetResult(new SubscriptionEnd(SubscriptionEndReason.NodeStopped, stopped));
    }

    private void OnNews(TopicNews news)
    {
        foreach (string name in news.Gone)
        {
            OnGone(name);
        }

        foreach (string name in news.Published)
        {
            OnPublished(name);
        }

        if (news.Beyond > 0 && _beyond == 0)
        {
            ApiLog.PrefixFull(_core.Log, Prefix, _options.MaxTopics, news.Beyond);
        }

        Volatile.Write(ref _beyond, news.Beyond);
        _isWhole |= news.IsWhole;
        CompleteOpening();
    }

    // While it opens, the caller gets the failure. Afterwards another service may have taken over that knows no prefixes: what is known
    // stays open.
    private void OnUnanswered(IPEndPoint service, TimeSpan limit)
    {
        if (!_opened.TrySetException(new PrefixUnansweredException(Prefix, service, limit)))
        {
            ApiLog.PrefixUnanswered(_core.Log, Prefix, service, limit);
        }
    }

    private void OnPublished(string name)
    {
        if (_byName.TryGetValue(name, out var known))
        {
            known.ClosesAt = null;
            return;
        }

        if (_topics.Count >= _options.MaxTopics)
        {
            CloseOldest();
        }

        var topic = new PrefixedTopic<T>(name);
        lock (_lock)
        {
            _topics.Add(topic);
        }

        _byName.Add(name, topic);
        _opening++;
        Notify(topic);
        if (_closing.TryGetValue(name, out var before))
        {
            before.Next = topic;
        }
        else
        {
            _ = OpenTopicAsync(topic);
        }
    }

    private void OnGone(string name)
    {
        if (!_byName.TryGetValue(name, out var topic))
        {
            return;
        }

        if (topic.State is PrefixTopicState.Refused or PrefixTopicState.Ended || _options.KeepOpen == TimeSpan.Zero)
        {
            Close(topic);
            return;
        }

        topic.ClosesAt = _core.Environment.Now + _options.KeepOpen;
        ScheduleClosing();
    }

    // There is one: the service reports no more topics than are allowed.
    private void CloseOldest()
    {
        if (_topics.Where(static topic => topic.ClosesAt is not null).MinBy(static topic => topic.ClosesAt) is { } oldest)
        {
            Close(oldest);
        }
    }

    private void ScheduleClosing()
    {
        if (!_alarm.IsPending && _topics.Min(static topic => topic.ClosesAt) is { } soonest)
        {
            var wait = soonest - _core.Environment.Now;
            _core.Environment.Schedule(_alarm, wait > TimeSpan.Zero ? wait : TimeSpan.Zero);
        }
    }

    private void CloseWhatIsDue()
    {
        var now = _core.Environment.Now;
        foreach (var topic in _topics.FindAll(topic => topic.ClosesAt <= now))
        {
            Close(topic);
        }

        ScheduleClosing();
    }

    private async Task OpenTopicAsync(PrefixedTopic<T> topic)
    {
        topic.IsBeingOpened = true;
        try
        {
            // It is not cancelled when the topic is closed meanwhile: publishers may know of this node already, and send to it.
            var endpoint = await _node.OpenEndpointAsync(topic.Name, TopicAccess.Subscribe, _options.Topic, _codec)
                .ConfigureAwait(_core.ResumesInContext);
            _core.Run(() => OnOpened(topic, endpoint));
        }
        catch (Exception exception)
        {
            _core.Run(() => OnFailed(topic, PrefixTopicState.Refused, exception));
        }
    }

    private void OnOpened(PrefixedTopic<T> topic, TopicEndpoint<T> endpoint)
    {
        topic.IsBeingOpened = false;
        string name = topic.Name;
        var consumer = _options.Consumer;
        try
        {
            topic.Consumption = endpoint.Subscribe(
                (message, stop) => _handler(name, message, stop),
                consumer.Copy(own => own.OnEnded = end =>
                {
                    _core.Run(() => OnConsumerEnded(topic, end));
                    consumer.OnEnded?.Invoke(end);
                }));
        }
        catch (Exception exception)
        {
            // It has ended in the meantime.
            OnFailed(topic, PrefixTopicState.Ended, exception);
            return;
        }

        topic.Endpoint = endpoint;
        if (topic.IsClosed)
        {
            // What was acknowledged for it until now is handled as well.
            _ = endpoint.DisposeAsync();
            return;
        }

        Move(topic, PrefixTopicState.Open, null);
    }

    private void OnConsumerEnded(PrefixedTopic<T> topic, SubscriptionEnd end)
    {
        topic.HasEnded = true;
        if (topic.IsClosed)
        {
            OnClosed(topic);
        }
        else if (end.Reason is not (SubscriptionEndReason.NodeExpelled or SubscriptionEndReason.NodeStopped))
        {
            OnFailed(topic, PrefixTopicState.Ended, end.Error);
        }
    }

    private void OnFailed(PrefixedTopic<T> topic, PrefixTopicState state, Exception? error)
    {
        topic.IsBeingOpened = false;
        if (topic.IsClosed)
        {
            OnClosed(topic);
            return;
        }

        Move(topic, state, error);
        // Without a reader, it would keep messages for nothing.
        _ = topic.Endpoint?.DisposeAsync();
        if (topic.ClosesAt is not null)
        {
            Close(topic);
        }
    }

    private void Close(PrefixedTopic<T> topic)
    {
        lock (_lock)
        {
            _topics.Remove(topic);
        }

        _byName.Remove(topic.Name);
        Move(topic, PrefixTopicState.Closed, topic.Error);
        if (topic.IsBeingOpened || (topic.Endpoint is not null && !topic.HasEnded))
        {
            // The consumer takes what is buffered, and then reports its end.
            _closing.Add(topic.Name, topic);
            _ = topic.Endpoint?.DisposeAsync();
        }
    }

    // Its last message was handled.
    private void OnClosed(PrefixedTopic<T> topic)
    {
        _closing.Remove(topic.Name);
        if (topic.Next is { IsClosed: false } next)
        {
            _ = OpenTopicAsync(next);
        }

        CompleteEnd();
    }

    private void CloseAll(SubscriptionEnd end)
    {
        if (_end is null)
        {
            _end = end;
            _follows().Remove(_follow);
            _core.Environment.Cancel(_alarm);
            Array.ForEach(_topics.ToArray(), Close);
            _opened.TrySetException(AfterDispose.OfPrefix(Prefix));
            CompleteEnd();
        }
    }

    private void CompleteEnd()
    {
        if (_end is { } end && _closing.Count == 0)
        {
            _nodeEnd.Unregister();
            _over.Cancel();
            _completion.TrySetResult(end);
        }
    }

    private void Move(PrefixedTopic<T> topic, PrefixTopicState state, Exception? error)
    {
        bool wasOpening = topic.State == PrefixTopicState.Opening;
        lock (_lock)
        {
            topic.State = state;
            topic.Error = error;
        }

        Notify(topic);
        if (wasOpening)
        {
            _opening--;
            CompleteOpening();
        }
    }

    private void Notify(PrefixedTopic<T> topic)
    {
        try
        {
            _options.OnTopic?.Invoke(topic.ToPrefixTopic());
        }
        catch (Exception exception)
        {
            ApiLog.PrefixCallbackThrew(_core.Log, exception, Prefix, topic.Name);
        }
    }

    private void CompleteOpening()
    {
        if (_isWhole && _opening == 0)
        {
            _opened.TrySetResult();
        }
    }
}

// What a prefix is opened with.
internal sealed record PrefixUse<T>(
    string Prefix, Func<string, Message<T>, CancellationToken, ValueTask> Handler, PrefixOptions<T> Options);
