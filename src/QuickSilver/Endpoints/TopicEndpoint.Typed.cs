using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using QuickSilver.Endpoints.Changes;
using QuickSilver.Endpoints.Publications;
using QuickSilver.Endpoints.Subscriptions;
using QuickSilver.Feeds;
using QuickSilver.Serialization;

namespace QuickSilver.Endpoints;

// The typed endpoint: passes each call to the half that it is for.
internal sealed class TopicEndpoint<T> : TopicEndpoint, ITopic<T>
{
    public TopicEndpoint(EndpointTopic topic, IPayloadCodec<T> codec, TopicAccess access, TopicOptions options)
        : base(topic, options.StampPublishTime)
    {
        if ((access & TopicAccess.Publish) != 0)
        {
            Publication = new TypedPublication<T>(this, codec, options);
        }

        if ((access & TopicAccess.Subscribe) != 0)
        {
            Subscription = new TypedSubscription<T>(this, codec, options);
        }
    }

    public int Subscribers => Topic.Subscribers;

    public long Dropped => Publication?.Dropped ?? 0;

    /// <summary>
    /// Whether the handler and the consumer start the activities of messages themselves, because the processing of a message may continue
    /// when they have returned. Set before they subscribe.
    /// </summary>
    public bool IsTracedByHandlers
    {
        set => Received.IsTracedByHandlers = value;
    }

    // The constructor has made both. A cast of a generic type would have to look the type up with each message.
    private TypedPublication<T> Published
    {
        get
        {
            if (Publication is null)
            {
                ThrowSubscriber();
            }

            return Unsafe.As<TypedPublication<T>>(Publication);
        }
    }

    private TypedSubscription<T> Received => Subscription is not null
        ? Unsafe.As<TypedSubscription<T>>(Subscription)
        : throw new InvalidOperationException(
            $"This endpoint of the topic \"{Name}\" is a publisher and receives nothing. Open another with OpenSubscriberAsync.");

    public ValueTask PublishAsync(T value, CancellationToken cancellationToken = default) =>
        Published.PublishAsync(in value, cancellationToken);

    public ValueTask PublishAsync(in T value, CancellationToken cancellationToken = default) =>
        Published.PublishAsync(in value, cancellationToken);

    public ValueTask PublishAsync(T value, PublishCompletion completion, CancellationToken cancellationToken = default) =>
        Published.PublishAsync(in value, completion, cancellationToken);

    public ValueTask PublishAsync(
        T value,
        MessageHeaders? headers,
        PublishCompletion completion = PublishCompletion.Accepted,
        CancellationToken cancellationToken = default) =>
        Published.PublishAsync(in value, headers, completion, cancellationToken);

    public IAttachedFeed AttachFeed(FeedCallback<T> feed) => Published.AttachFeed(feed);

    public IAttachedFeed AttachFeed(IMessageFeed<T> feed) => Published.AttachFeed(feed);

    public Task WaitForSubscribersAsync(int count, CancellationToken cancellationToken = default) =>
        EndpointInterest.WaitAsync(this, count, cancellationToken);

    public IAsyncEnumerable<SubscriberChange> WatchSubscribersAsync(CancellationToken cancellationToken = default)
    {
        Published.CheckPublishes();
        return EndpointInterest.WatchAsync(this, cancellationToken);
    }

    public ISubscription SubscribeInline(
        MessageHandler<T> handler, Action<GapNotice>? onGap = null, Action<SubscriptionEnd>? onEnded = null)
    {
        ArgumentNullException.ThrowIfNull(handler);
        return SubscribeInlineTogether([(handler, onGap, onEnded)])[0];
    }

    /// <summary>
    /// Like SubscribeInline, for several handlers at once. If they are the first, each gets the messages that were buffered before.
    /// </summary>
    public IReadOnlyList<ISubscription> SubscribeInlineTogether(
        IReadOnlyList<(MessageHandler<T> Handler, Action<GapNotice>? OnGap, Action<SubscriptionEnd>? OnEnded)> handlers) =>
        Received.SubscribeInline(handlers);

    public IConsumption Subscribe(Func<Message<T>, CancellationToken, ValueTask> consumer, ConsumerOptions<T>? options = null) =>
        Received.Subscribe(consumer, options);

    public IObservable<Message<T>> AsObservable() => Received.AsObservable();

    public IAsyncEnumerable<Message<T>> ReadAllAsync(Action<GapNotice>? onGap = null, CancellationToken cancellationToken = default) =>
        Received.ReadAllAsync(onGap, cancellationToken);

    /// <summary>From any thread: leaves the topic. Completes when the buffer has everything that this endpoint gets.</summary>
    internal Task LeaveAsync() => Received.LeaveAsync();

    /// <summary>From any thread: leaves the topic without waiting for what has not come yet.</summary>
    internal Task LeaveNowAsync() => Received.LeaveNowAsync();

    /// <summary>From any thread, when the topic was left: drops what the reader has not read. The reader reports it, and ends.</summary>
    internal void DropUnread() => Received.EndBuffer(error: null, discard: true);

    [DoesNotReturn]
    private void ThrowSubscriber() => throw new InvalidOperationException(
        $"This endpoint of the topic \"{Name}\" is a subscriber and cannot publish. Open another with OpenPublisherAsync.");
}
