using QuickSilver.Core.Environment;
using QuickSilver.Endpoints.Consumers;
using QuickSilver.Endpoints.Rings;
using QuickSilver.Multicast.Channels;
using QuickSilver.Serialization;

namespace QuickSilver.Endpoints.Subscriptions;

// The subscribing half of a typed endpoint. It gets each message decoded once and passes it to the handlers, in the order in which they
// were attached, and then to the reader's buffer.
internal sealed class TypedSubscription<T> : TopicSubscription, IRingOwner
{
    private readonly IPayloadCodec<T> _codec;
    private readonly ReaderRing<T> _ring;
    private HandlerEndpoint<T>[] _handlers = [];
    // The only consumer, while it is a handler without a backlog. With thousands of topics, the objects that a message must read on its way
    // cost more than its processing.
    private HandlerEndpoint<T>? _direct;
    private bool _hadReader;
    private bool _isAlone;

    public TypedSubscription(TopicEndpoint endpoint, IPayloadCodec<T> codec, TopicOptions options)
        : base(endpoint, options.SlowReaderLimit)
    {
        _codec = codec;
        _ring = new ReaderRing<T>(options.ReaderCapacity, options.SlowReader) { Owner = this };
        SkipsOwn = !options.ReceiveOwnMessages;
    }

    /// <summary>
    /// Whether the handler and the consumer start the activities of messages themselves, because the processing of a message may continue
    /// when they have returned. Set before they subscribe.
    /// </summary>
    public bool IsTracedByHandlers { get; set; }

    public override bool IsHeard => _ring.IsClaimed;

    public override IDirectSink? Direct => Volatile.Read(ref _direct);

    public override long Waiting => _ring.Count;

    protected override bool IsBufferOff => _ring.IsOff;

    protected override bool HasReader => Consumers.Length > 0 || _ring.HasReader;

    protected override bool IsRead => Consumers.Length == 0 && _ring is not { HasReader: true, HasUnread: true };

    /// <summary>
    /// Attaches handlers, which run on the core thread. If they are the first, each gets the messages that were buffered before.
    /// </summary>
    public IReadOnlyList<ISubscription> SubscribeInline(
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
            Endpoint.CheckUsable();
            Volatile.Write(ref _handlers, [.. _handlers, .. added]);
            hasBacklog = added.Length > 0 && _ring.TryClaim(added);
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

    public IConsumption Subscribe(Func<Message<T>, CancellationToken, ValueTask> consumer, ConsumerOptions<T>? options)
    {
        ArgumentNullException.ThrowIfNull(consumer);
        options = options?.Copy() ?? new ConsumerOptions<T>();
        OptionRules.Check(options);
        CheckSubscribes();
        var consumption = new Consumption<T>(this, _ring, consumer, options);
        if (!_ring.TryAttach(consumption))
        {
            throw ReaderEndpoint<T>.Taken(Name, _ring);
        }

        lock (Topic)
        {
            Extras.Consumers = [.. Extras.Consumers, consumption];
        }

        consumption.Start();
        return consumption;
    }

    public IObservable<Message<T>> AsObservable()
    {
        CheckSubscribes();
        return new TopicObservable<T>(this);
    }

    public IAsyncEnumerable<Message<T>> ReadAllAsync(Action<GapNotice>? onGap, CancellationToken cancellationToken)
    {
        CheckSubscribes();
        return new ReaderEndpoint<T>(Name, _ring, Topic.Node.Names, cancellationToken, onGap);
    }

    /// <summary>Adds an observer, or notifies it immediately of the end of the endpoint.</summary>
    public void Observe(TopicObserver<T> observer)
    {
        lock (Topic)
        {
            if (Endpoint.State < EndpointState.Cancelled)
            {
                Extras.Observers = [.. Extras.Observers, observer];
            }
        }

        try
        {
            observer.Begin();
        }
        catch (Exception exception) when (Endpoint.State >= EndpointState.Cancelled)
        {
            // An observer that was added is also called on the core thread, and ignores the second call.
            observer.End(Endpoint.State == EndpointState.Failed ? exception : null);
        }
    }

    public void Forget(TopicObserver<T> observer)
    {
        lock (Topic)
        {
            Extras.Observers = [.. Extras.Observers.Where(other => other != observer)];
        }
    }

    public void Detach(HandlerEndpoint<T> handler)
    {
        lock (Topic)
        {
            Volatile.Write(ref _handlers, [.. _handlers.Where(other => !ReferenceEquals(other, handler))]);
            ChooseDirect();
        }
    }

    /// <summary>
    /// A consumer leaves the ring. Returns what there will be no other reader for, and whether that was reported without the consumer.
    /// </summary>
    public (IReadOnlyList<GapNotice> Left, bool IsReported) DetachConsumer()
    {
        lock (Topic)
        {
            return (_ring.Detach(), IsUnreadReported);
        }
    }

    /// <summary>Any thread: all parts of the consumer have ended.</summary>
    public void OnConsumerEnded(Consumption<T> consumption)
    {
        consumption.TakeUnreported().Report(Topic.Node, Name);
        lock (Topic)
        {
            Extras.Consumers = [.. Extras.Consumers.Where(other => other != consumption)];
        }

        OnReaderEnded();
    }

    public override bool CanAccept(int payloadBytes) => _ring.CanAccept(payloadBytes);

    public override void Accept(in DeliveredMessage message)
    {
        if (!Endpoint.IsOver)
        {
            MessageHandover<T>.HandTo(this, _codec, Name, null, message);
        }
        else if (IsEndedByCaller)
        {
            NoteTooLate(MessageHandover<T>.ToSender(message.Sender), message.Sequence);
        }
    }

    /// <summary>Core thread: passes a decoded message to all handlers and to the ring.</summary>
    public void Accept(in Message<T> message, in DeliveredMessage origin)
    {
        int dropped = _ring.IsClaimed ? ReaderRing<T>.WasClaimed : Buffer(message, origin, isClaimed: false);
        if (dropped == ReaderRing<T>.WasClaimed)
        {
            DeliverBacklog();
            var handlers = Volatile.Read(ref _handlers);
            if (handlers.Length > 0 && !_ring.IsOff)
            {
                _ring.Reserve(MessageHandover<T>.IsBytes(_codec) ? origin.Length : 0);
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
                dropped = handlers.Length == 0 && Endpoint.IsOver ? ReaderRing<T>.HasEnded : 0;
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

    public override void AcceptGap(in GapNotice gap)
    {
        if (!_ring.IsClaimed && _ring.TryAddGap(gap, isClaimed: false))
        {
            return;
        }

        DeliverBacklog();
        foreach (var handler in Volatile.Read(ref _handlers))
        {
            handler.Notify(gap);
        }

        _ring.TryAddGap(gap);
    }

    public override void SetAlone(bool isAlone)
    {
        lock (Topic)
        {
            _isAlone = isAlone;
            ChooseDirect();
        }
    }

    public override void LiftBuffer() => _ring.Lift();

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
        Topic.Node.Run(() => Topic.OnHandlerTooSlow(Endpoint, failure));
    }

    public void OnHandlerFault(Exception exception, NodeId sender, long sequence) => Topic.OnHandlerFault(exception, sender, sequence);

    public void OnDecodeFault(in DeliveredMessage message, Exception exception)
    {
        var sender = MessageHandover<T>.ToSender(message.Sender);
        Topic.OnDecodeFault(exception, sender, message.Sequence);
        AcceptGap(new GapNotice(sender, message.Sequence, message.Sequence, GapReason.Undecodable));
        (_codec as IDecodeFaultObserver)?.OnDecodeFault(message.Span, sender, exception);
    }

    // What no reader will read any more is reported here. What a reader does not read is reported when the reader ends.
    public override void EndBuffer(Exception? error, bool discard)
    {
        var unread = _ring.End(error, discard);
        var unhandled = new UnhandledMessages();
        unhandled.AddAll(unread);
        unhandled.Report(Topic.Node, Name);
        var dropped = new UnhandledMessages(GapReason.ReaderFull);
        dropped.AddAll(unread);
        dropped.ReportDropped(Topic.Node, Name);
    }

    public override DetachedHandlers TakeHandlers()
    {
        lock (Topic)
        {
            var taken = new DetachedHandlers<T>(_handlers, KnownExtras?.Observers ?? []);
            Volatile.Write(ref _handlers, []);
            ChooseDirect();
            if (KnownExtras is { } extras)
            {
                extras.Observers = [];
            }

            return taken;
        }
    }

    public override void EndReading()
    {
        if (!DropsUnread)
        {
            return;
        }

        EndBuffer(error: null, discard: true);
        // The ring knows only the one that still reads it.
        foreach (var consumer in LockedConsumers())
        {
            consumer.OnDiscarded();
        }
    }

    public override void ReportUnread()
    {
        if (!DropsUnread)
        {
            return;
        }

        var unread = new UnhandledMessages();
        lock (Topic)
        {
            if (_ring.HasReader)
            {
                NoteUnreadReported();
                unread.AddAll(_ring.PeekUnread());
            }
        }

        foreach (var consumer in LockedConsumers())
        {
            unread.AddAll(consumer.TakeUnreported().Ranges());
        }

        unread.Report(Topic.Node, Name);
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

    void IRingOwner.OnReaderEnded(UnhandledMessages? unhandled)
    {
        if (!IsUnreadReported)
        {
            unhandled?.Report(Topic.Node, Name);
        }

        OnReaderEnded();
    }

    private IEndingConsumer[] Consumers => KnownExtras?.Consumers ?? [];

    private IEndingConsumer[] LockedConsumers()
    {
        lock (Topic)
        {
            return Consumers;
        }
    }

    private int Buffer(in Message<T> message, in DeliveredMessage origin, bool isClaimed) => MessageHandover<T>.IsBytes(_codec)
        ? _ring.AddBytes(origin.Span, message.Sender, message.Sequence, isClaimed, message.Origin)
        : _ring.Add(message, origin.Length, isClaimed);

    // Core thread: the messages that were buffered before the first handlers were attached are delivered before newer ones.
    private void DeliverBacklog()
    {
        if (_ring.TakeBacklog() is { } backlog)
        {
            backlog.Deliver(Endpoint)?.Report(Topic.Node, Name);
            lock (Topic)
            {
                ChooseDirect();
            }
        }
    }

    // Called under the lock.
    private void ChooseDirect()
    {
        // Where own messages are left out, each message is asked for its sender, before it comes here.
        bool isDirect = _isAlone && !SkipsOwn && !_hadReader && _handlers.Length == 1 && _ring is { IsOff: true, OwesBacklog: false };
        var direct = isDirect ? _handlers[0] : null;
        if (!ReferenceEquals(_direct, direct))
        {
            _direct?.SetAlone(false);
            direct?.SetAlone(true);
            Volatile.Write(ref _direct, direct);
        }
    }

    private void CheckSubscribes()
    {
        Endpoint.CheckUsable();
        if (IsStopped)
        {
            throw new InvalidOperationException(
                $"This endpoint of the topic \"{Name}\" was stopped and receives nothing more. Open another endpoint of the topic.");
        }
    }
}
