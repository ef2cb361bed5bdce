using System.Runtime.CompilerServices;
using QuickSilver.Core.Environment;
using QuickSilver.Diagnostics;
using QuickSilver.Endpoints.Changes;
using QuickSilver.Endpoints.Consumers;
using QuickSilver.Endpoints.Rings;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Publishing;
using QuickSilver.Serialization;

namespace QuickSilver.Endpoints;

// The receiving half of the typed endpoint (the publishing half and the three ways to end it are in TopicEndpoint.Publishing.cs). It
// decodes each message once and passes it to the handlers, in the order in which they were attached, and then to the reader's buffer.
//
// The topic object is the lock for the handlers and feeds, because a lock of its own would cost 40 bytes for each idle endpoint.
internal sealed partial class TopicEndpoint<T> : TopicEndpoint, ITopic<T>, IRingOwner
{
    // Copies for publishers, because the objects that contain the originals also have fields that the core thread writes with each message.
    // The first three are next to the fields of the base class that publishers read, and a message on the fast path needs no others. An
    // endpoint that only subscribes has no gate; each path to the gate begins with CheckPublishes.
    private readonly IPayloadCodec<T> _codec;
    private readonly PublishLane _lane;
    private readonly PublishIntake _intake;
    private readonly PublishGate _gate;
    private readonly ReaderRing<T>? _ring;
    private HandlerEndpoint<T>[] _handlers = [];
    private TopicObserver<T>[] _observers = [];
    // Those that have not ended. One that was stopped alone may still handle messages beside the next one.
    private Consumption<T>[] _consumptions = [];
    // The only consumer, while it is a handler without a backlog. With thousands of topics, the objects that a message must read on its way
    // cost more than its processing.
    private HandlerEndpoint<T>? _direct;
    private bool _hadReader;
    private bool _isAlone;

    public TopicEndpoint(EndpointTopic topic, IPayloadCodec<T> codec, TopicAccess access, TopicOptions options)
        : base(topic.Name, access, options.StampPublishTime)
    {
        Topic = topic;
        _codec = codec;
        _gate = Publishes ? topic.Publisher.Gate : null!;
        _intake = topic.Node.Intake;
        _lane = _intake.Lane;
        if (Publishes)
        {
            _intake.Enter(this, topic.Publisher);
            ServiceLossLimit = options.RequireQuorum ? TimeSpan.Zero : options.ServiceLossLimit ?? TimeSpan.MaxValue;
        }

        if (Subscribes)
        {
            _ring = new ReaderRing<T>(options.ReaderCapacity, options.SlowReader) { Owner = this };
            Watch = options.SlowReaderLimit is { } limit ? new SlowReaderWatch(topic, this, limit) : null;
            NoEcho = options.NoEcho;
        }
    }

    public EndpointTopic Topic { get; }

    public int Subscribers => Topic.Subscribers;

    public override IDirectSink? Direct => Volatile.Read(ref _direct);

    public IDisposable SubscribeInline(
        MessageHandler<T> handler, Action<GapNotice>? onGap = null, Action<SubscriptionEnd>? onEnded = null)
    {
        ArgumentNullException.ThrowIfNull(handler);
        return SubscribeInlineTogether([(handler, onGap, onEnded)])[0];
    }

    /// <summary>
    /// Like SubscribeInline, for several handlers at once. If they are the first, each gets the messages that were buffered before.
    /// </summary>
    public IReadOnlyList<IDisposable> SubscribeInlineTogether(
        IReadOnlyList<(MessageHandler<T> Handler, Action<GapNotice>? OnGap, Action<SubscriptionEnd>? OnEnded)> handlers)
    {
        CheckSubscribes();
        HandlerEndpoint<T>[] added =
        [
            .. handlers.Select(
                one => new HandlerEndpoint<T>(one.Handler, HandlerCallbacks.Of(one.OnGap, one.OnEnded), this, _codec)),
        ];
        bool hasBacklog;
        lock (Topic)
        {
            CheckUsable();
            Volatile.Write(ref _handlers, [.. _handlers, .. added]);
            hasBacklog = added.Length > 0 && _ring!.TryClaim(added);
            ChooseDirect();
        }

        Topic.Node.WatchHandlers();
        if (hasBacklog)
        {
            // The next message would also deliver it, but there may be none.
            Topic.Node.Run(DeliverBacklog);
        }

        return added;
    }

    public IConsumption Subscribe(Func<Message<T>, CancellationToken, ValueTask> consumer, ConsumerOptions<T>? options = null)
    {
        ArgumentNullException.ThrowIfNull(consumer);
        options ??= new ConsumerOptions<T>();
        OptionRules.Check(options);
        CheckSubscribes();
        var consumption = new Consumption<T>(this, _ring!, consumer, options);
        if (!_ring!.TryAttach(consumption))
        {
            throw ReaderEndpoint<T>.Taken(Name, _ring);
        }

        lock (Topic)
        {
            _consumptions = [.. _consumptions, consumption];
        }

        consumption.Start();
        return consumption;
    }

    public IObservable<Message<T>> AsObservable()
    {
        CheckSubscribes();
        return new TopicObservable<T>(this);
    }

    public IAsyncEnumerable<Message<T>> ReadAllAsync(Action<GapNotice>? onGap = null, CancellationToken cancellationToken = default)
    {
        CheckSubscribes();
        return new ReaderEndpoint<T>(Name, _ring!, Topic.Node.Names, cancellationToken, onGap);
    }

    public Task WaitForSubscribersAsync(int count, CancellationToken cancellationToken = default)
    {
        OptionRules.CheckSubscribers(count);
        CheckUsable();
        return Topic.Subscribers >= count ? Task.CompletedTask : AwaitSubscribersAsync(count, cancellationToken);
    }

    private async Task AwaitSubscribersAsync(int count, CancellationToken cancellationToken)
    {
        var done = new TaskCompletionSource(Topic.Node.Completions);
        Topic.Node.Run(() => Topic.Interest.Await(this, count, done));
        try
        {
            await Topic.Node.UntilEndedAsync(done.Task, cancellationToken).ConfigureAwait(Topic.Node.ResumesInContext);
        }
        catch (OperationCanceledException)
        {
            done.TrySetCanceled(cancellationToken);
            throw;
        }
    }

    public IAsyncEnumerable<SubscriberChange> WatchSubscribersAsync(CancellationToken cancellationToken = default)
    {
        CheckPublishes();
        return WatchAsync(cancellationToken);
    }

    private async IAsyncEnumerable<SubscriberChange> WatchAsync([EnumeratorCancellation] CancellationToken cancellationToken)
    {
        var watch = new SubscriberWatch(Topic.Node);
        Topic.Node.Run(() => Topic.Interest.Add(this, watch));
        using var ended = Topic.Node.Ended.UnsafeRegister(static state => ((SubscriberWatch)state!).End(null), watch);
        try
        {
            await foreach (var change in watch.ReadAsync(cancellationToken).ConfigureAwait(Topic.Node.ResumesInContext))
            {
                yield return change;
            }
        }
        finally
        {
            Topic.Node.Run(() => Topic.Interest.Remove(watch));
        }
    }

    public override bool CanAccept(int payloadBytes) => _ring is null || _ring.CanAccept(payloadBytes);

    public override long Waiting => _ring?.Count ?? 0;

    public override void SetAlone(bool isAlone)
    {
        lock (Topic)
        {
            _isAlone = isAlone;
            ChooseDirect();
        }
    }

    public override void Accept(in DeliveredMessage message)
    {
        if (_ring is not null && !_isOver)
        {
            HandTo(this, _codec, Name, null, message);
        }
        else if (_ring is not null && IsEndedByCaller)
        {
            NoteTooLate(ToSender(message.Sender), message.Sequence);
        }
    }

    public override void AcceptGap(in GapNotice gap) => Tell(gap);

    public override RunningHandler? FindRunning()
    {
        foreach (var handler in Volatile.Read(ref _handlers))
        {
            if (handler.FindRunning() is { } running)
            {
                return running;
            }
        }

        return null;
    }

    public override void OnHandlerTooSlow(string method, TimeSpan limit)
    {
        var failure = new SlowHandlerException(Name, typeof(T), method, limit);
        Topic.Node.Run(() => Topic.OnHandlerTooSlow(this, failure));
    }

    /// <summary>Adds an observer, or notifies it immediately of the end of the endpoint.</summary>
    internal void Observe(TopicObserver<T> observer)
    {
        lock (Topic)
        {
            if (State < EndpointState.Cancelled)
            {
                _observers = [.. _observers, observer];
            }
        }

        try
        {
            observer.Begin();
        }
        catch (Exception exception) when (State >= EndpointState.Cancelled)
        {
            // An observer that was added is also called on the core thread, and ignores the second call.
            observer.End(State == EndpointState.Failed ? exception : null);
        }
    }

    internal void Forget(TopicObserver<T> observer)
    {
        lock (Topic)
        {
            _observers = [.. _observers.Where(other => other != observer)];
        }
    }

    internal void Detach(HandlerEndpoint<T> handler)
    {
        lock (Topic)
        {
            Volatile.Write(ref _handlers, [.. _handlers.Where(other => !ReferenceEquals(other, handler))]);
            ChooseDirect();
        }
    }

    internal void OnHandlerFault(Exception exception, NodeId sender, long sequence) => Topic.OnHandlerFault(exception, sender, sequence);

    private static NodeId ToSender(NodeKey key) => new(key.Id, key.Incarnation);

    private static MessageOrigin OriginOf(in DeliveredMessage message, string topic) =>
        message.ExtensionBytes != 0 && MessageHeaders.Of(message.Extensions, topic) is { } headers
            ? new MessageOrigin(headers)
            : new MessageOrigin(topic);

    /// <summary>
    /// Passes a message to the only handler or, if that is null, to all handlers and the ring. Static and with the codec and the name as
    /// parameters, so that a message for the only handler does not read the endpoint.
    /// </summary>
    internal static void HandTo(
        TopicEndpoint<T> endpoint, IPayloadCodec<T> codec, string topic, HandlerEndpoint<T>? only, in DeliveredMessage message)
    {
        var sender = ToSender(message.Sender);
        var origin = OriginOf(message, topic);
        if (IsBytes(codec))
        {
            // Handlers get the bytes in place; only the ring makes a copy.
            var borrowed = new Message<ReadOnlyMemory<byte>>(message.Memory, sender, message.Sequence) { Origin = origin };
            HandTo(endpoint, only, Unsafe.As<Message<ReadOnlyMemory<byte>>, Message<T>>(ref borrowed), message);
        }
        else
        {
            Decode(endpoint, codec, only, sender, origin, message);
        }
    }

    // The message is not cleared first: for a large struct, that would cost as much as decoding some of its fields.
    [SkipLocalsInit]
    private static void Decode(
        TopicEndpoint<T> endpoint,
        IPayloadCodec<T> codec,
        HandlerEndpoint<T>? only,
        NodeId sender,
        MessageOrigin origin,
        in DeliveredMessage message)
    {
        Unsafe.SkipInit(out Message<T> decoded);
        if (TryDecode(endpoint, codec, message, out Message<T>.Begin(ref decoded, sender, message.Sequence, origin)))
        {
            HandTo(endpoint, only, decoded, message);
        }
        else
        {
            only?.CountDelivered(message.Length);
        }
    }

    private static void HandTo(TopicEndpoint<T> endpoint, HandlerEndpoint<T>? only, in Message<T> message, in DeliveredMessage origin)
    {
        if (only is not null)
        {
            only.CountDelivered(origin.Length);
            only.Deliver(message);
        }
        else
        {
            endpoint.Accept(message, origin);
        }
    }

    private static bool TryDecode(TopicEndpoint<T> endpoint, IPayloadCodec<T> codec, in DeliveredMessage message, out T value)
    {
        try
        {
            codec.Read(message.Span, out value);
            return true;
        }
        catch (OutOfMemoryException) when (endpoint.Topic.WaitsForMemory(message))
        {
            // The message counts as refused, and comes again.
            throw;
        }
        catch (Exception exception)
        {
            endpoint.OnDecodeFault(message, exception);
            value = default!;
            return false;
        }
    }

    // Raw bytes with the library's own codec need no decoding.
    private static bool IsBytes(IPayloadCodec<T> codec) => typeof(T) == typeof(ReadOnlyMemory<byte>) && codec is MemoryCodec;

    private void Accept(in Message<T> message, in DeliveredMessage origin)
    {
        int dropped = _ring!.IsClaimed ? ReaderRing<T>.WasClaimed : Buffer(message, origin, isClaimed: false);
        if (dropped == ReaderRing<T>.WasClaimed)
        {
            DeliverBacklog();
            var handlers = Volatile.Read(ref _handlers);
            if (handlers.Length > 0 && !_ring.IsOff)
            {
                _ring.Reserve(IsBytes(_codec) ? origin.Length : 0);
            }

            foreach (var handler in handlers)
            {
                handler.Deliver(message);
            }

            if (!_ring.IsOff)
            {
                dropped = Buffer(message, origin, isClaimed: true);
            }
            else
            {
                // The endpoint may have ended after it was asked.
                dropped = handlers.Length == 0 && _isOver ? ReaderRing<T>.HasEnded : 0;
            }
        }

        if (dropped > 0)
        {
            Topic.Node.CounterCells.ReaderDrops += dropped;
        }
        else if (dropped == ReaderRing<T>.HasEnded && IsEndedByCaller)
        {
            NoteTooLate(message.Sender, message.Sequence);
        }
    }

    private int Buffer(in Message<T> message, in DeliveredMessage origin, bool isClaimed) => IsBytes(_codec)
        ? _ring!.AddBytes(origin.Span, message.Sender, message.Sequence, isClaimed, message.Origin)
        : _ring!.Add(message, origin.Length, isClaimed);

    private void OnDecodeFault(in DeliveredMessage message, Exception exception)
    {
        var sender = ToSender(message.Sender);
        Topic.OnDecodeFault(exception, sender, message.Sequence);
        Tell(new GapNotice(sender, message.Sequence, message.Sequence, GapReason.Undecodable));
        (_codec as IDecodeFaultObserver)?.OnDecodeFault(message.Span, sender, exception);
    }

    // Core thread: the messages that were buffered before the first handlers were attached are delivered before newer ones.
    private void DeliverBacklog()
    {
        if (_ring!.TakeBacklog() is { } backlog)
        {
            backlog.Deliver(this)?.Report(Topic.Node, Name);
            lock (Topic)
            {
                ChooseDirect();
            }
        }
    }

    // Any thread, when the ring buffers for a reader.
    void IRingOwner.OnReader()
    {
        lock (Topic)
        {
            _hadReader = true;
            ChooseDirect();
        }
    }

    void IRingOwner.OnRoom() => Topic.Resume();

    void IRingOwner.OnGrowth(int bytes) => Topic.Node.Environment.Heap.Ask(HeapUse.ReaderBuffer, bytes);

    // Called under the lock.
    private void ChooseDirect()
    {
        // Where own messages are left out, each message is asked for its sender, before it comes here.
        bool isDirect = _isAlone && !NoEcho && !_hadReader && _handlers.Length == 1 && _ring is { IsOff: true, OwesBacklog: false };
        var direct = isDirect ? _handlers[0] : null;
        if (!ReferenceEquals(_direct, direct))
        {
            _direct?.SetAlone(false);
            direct?.SetAlone(true);
            Volatile.Write(ref _direct, direct);
        }
    }

    private void Tell(in GapNotice gap)
    {
        if (_ring is null || (!_ring.IsClaimed && _ring.TryAddGap(gap, isClaimed: false)))
        {
            return;
        }

        DeliverBacklog();
        foreach (var handler in Volatile.Read(ref _handlers))
        {
            handler.Tell(gap);
        }

        _ring.TryAddGap(gap);
    }

    private void CheckSubscribes()
    {
        if (_ring is null)
        {
            throw new InvalidOperationException(
                $"This endpoint of the topic \"{Name}\" is a publisher and receives nothing. Open another with OpenSubscriberAsync.");
        }

        CheckUsable();
        if (IsStopped)
        {
            throw new InvalidOperationException(
                $"This endpoint of the topic \"{Name}\" was stopped and receives nothing more. Open another endpoint of the topic.");
        }
    }

    private void CheckUsable()
    {
        switch (State)
        {
            case EndpointState.Open or EndpointState.Draining:
                return;
            case EndpointState.Cancelled:
                throw new InvalidOperationException($"This endpoint of the topic \"{Name}\" was cancelled. Open another one.");
            case EndpointState.Failed:
                throw Volatile.Read(ref _failure)!;
            default:
                throw AfterDispose.OfTopic(Name);
        }
    }
}
