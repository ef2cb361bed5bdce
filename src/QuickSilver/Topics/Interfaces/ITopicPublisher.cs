using System.Runtime.CompilerServices;
using QuickSilver.Feeds;

namespace QuickSilver;

/// <summary>An open endpoint of a topic that publishes. Thread-safe.</summary>
/// <typeparam name="T">The payload type.</typeparam>
public interface ITopicPublisher<T> : ITopicEndpoint
{
    /// <summary>
    /// The number of nodes that subscribe, in the topic's current view. A node counts once, however many of its endpoints subscribe, and so
    /// does this node if one of its endpoints does.
    /// </summary>
    /// <remarks>
    /// May be 0 for some tens of milliseconds after a publisher was opened, although there are subscribers, because the view that contains
    /// them arrives after access is granted. A first 0 does not mean that the topic has no subscribers. Call
    /// <see cref="WaitForSubscribersAsync"/> to wait for them.
    /// </remarks>
    int Subscribers { get; }

    /// <summary>
    /// Publishes a message and completes when the node has accepted it. It completes synchronously unless the queue is full. Then it waits
    /// for room, which is the back-pressure. A call that completes synchronously does not allocate.
    /// </summary>
    /// <exception cref="ArgumentNullException">The value is null.</exception>
    /// <exception cref="InvalidOperationException">
    /// The endpoint is draining or was cancelled, or the value cannot be encoded because it nests too deep or a collection in it contains
    /// null.
    /// </exception>
    /// <exception cref="ObjectDisposedException">The endpoint or its node was disposed.</exception>
    /// <exception cref="NodeExpelledException">The membership service removed the node.</exception>
    /// <exception cref="MessageTooLargeException">
    /// The encoded message is larger than 16 MiB, or larger than the node's packet memory can hold for all regions of the topic together.
    /// </exception>
    /// <exception cref="OperationCanceledException">
    /// The token or <see cref="ITopicEndpoint.Cancel"/> cancelled the call while it waited. If the token cancelled it, the message was not
    /// published, unless the call waited only for the message to become stable.
    /// </exception>
    /// <remarks>
    /// Callable from any thread, including from handlers and feeds. Handlers and feeds must not block on it, because room is made on their
    /// thread. The value is encoded before the method returns and may be changed afterwards. A call that runs while another thread drains,
    /// cancels or disposes the endpoint may throw although its message is sent. If a call completes, its message was accepted before.
    /// </remarks>
    [OverloadResolutionPriority(1)]
    ValueTask PublishAsync(T value, CancellationToken cancellationToken = default);

    /// <summary>Publishes a message by reference, which avoids copies of a large struct.</summary>
    /// <inheritdoc cref="PublishAsync(T, CancellationToken)"/>
    ValueTask PublishAsync(in T value, CancellationToken cancellationToken = default) => PublishAsync(value, cancellationToken);

    /// <summary>Publishes a message and completes as specified by <paramref name="completion"/>.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The completion is not a defined value.</exception>
    /// <inheritdoc cref="PublishAsync(T, CancellationToken)"/>
    ValueTask PublishAsync(T value, PublishCompletion completion, CancellationToken cancellationToken = default);

    /// <summary>Publishes a message with headers, and completes as specified by <paramref name="completion"/>.</summary>
    /// <param name="value">The payload.</param>
    /// <param name="headers">
    /// The headers. Null: none. They are written before the method returns, and the object may be published again.
    /// </param>
    /// <param name="completion">When the call completes.</param>
    /// <param name="cancellationToken">Cancels the call while it waits.</param>
    /// <exception cref="ArgumentOutOfRangeException">The completion is not a defined value.</exception>
    /// <inheritdoc cref="PublishAsync(T, CancellationToken)"/>
    ValueTask PublishAsync(
        T value,
        MessageHeaders? headers,
        PublishCompletion completion = PublishCompletion.Accepted,
        CancellationToken cancellationToken = default);

    /// <summary>
    /// Attaches a feed. It is called on the core thread whenever the network has room for a message, until it returns false.
    /// </summary>
    /// <remarks>
    /// This is the simple form of <see cref="AttachFeed(IMessageFeed{T})"/>, for a feed that needs neither the budget of its turn nor to
    /// know what is stable. The feed must not block. Its messages are encoded before it is called again, and are sent in the order of the
    /// calls. If a feed throws or provides a message that is too large, this is logged and counted, and the feed is called again when it
    /// signals.
    /// </remarks>
    /// <inheritdoc cref="AttachFeed(IMessageFeed{T})"/>
    IAttachedFeed AttachFeed(FeedCallback<T> feed);

    /// <summary>
    /// Attaches a feed, which is asked for messages when the network can take them, and is notified which of them are stable.
    /// </summary>
    /// <remarks>
    /// The feeds of a topic have turns, and while several have messages, each gives the same number of bytes. Messages published at the
    /// same time may overtake a feed's message that finds no room. Dispose the result to detach the feed: it is not pulled again, its
    /// messages are sent, and it is notified when they are stable. <see cref="DrainAsync"/> also detaches it, and <see
    /// cref="ITopicEndpoint.Cancel"/> also drops its messages that were not sent yet. A feed may be attached again when it was notified of
    /// its end, and not to several topics of different nodes at once unless its methods are thread-safe.
    /// </remarks>
    /// <exception cref="InvalidOperationException">
    /// The endpoint is draining or was cancelled, or the feed is attached to it and has not ended.
    /// </exception>
    /// <exception cref="ObjectDisposedException">The endpoint or its node was disposed.</exception>
    /// <exception cref="NodeExpelledException">The membership service removed the node.</exception>
    IAttachedFeed AttachFeed(IMessageFeed<T> feed);

    /// <summary>
    /// Completes when at least <paramref name="count"/> nodes subscribe to the topic (<see cref="Subscribers"/>): a node counts once,
    /// however many of its endpoints subscribe, and so does this node if one of its endpoints does.
    /// </summary>
    /// <remarks>
    /// It waits without a limit. If no subscriber comes for <see cref="QuickSilverOptions.StallWarning"/>, the log and the status of the
    /// node name the topic, how many nodes it waits for, and how many there are (<see cref="StatusReasonKind.SubscribersMissing"/>).
    /// </remarks>
    /// <exception cref="ArgumentOutOfRangeException">The count is negative.</exception>
    /// <exception cref="OperationCanceledException">The token or <see cref="ITopicEndpoint.Cancel"/> cancelled the call.</exception>
    /// <exception cref="ObjectDisposedException">The endpoint or its node was disposed.</exception>
    /// <exception cref="NodeExpelledException">The membership service removed the node.</exception>
    Task WaitForSubscribersAsync(int count, CancellationToken cancellationToken = default);

    /// <summary>
    /// The subscribers of the topic and their changes: first those of now, with the reason <see
    /// cref="SubscriberChangeReason.Present"/>, and then each node that joins or leaves, in the order in which this node learns it.
    /// </summary>
    /// <remarks>
    /// It may be called any number of times, from any thread; the enumerations are independent. It ends with the endpoint, with the
    /// exception of a reader. A change is reported when this node has applied it, so messages that it sends afterwards go to the new
    /// subscribers. An enumeration that is slow gets the last state of each node and not all changes between: what waits for it is limited
    /// by the number of nodes.
    /// </remarks>
    /// <exception cref="InvalidOperationException">The endpoint is draining or was cancelled.</exception>
    /// <exception cref="ObjectDisposedException">The endpoint or its node was disposed.</exception>
    /// <exception cref="NodeExpelledException">The membership service removed the node.</exception>
    /// <exception cref="OperationCanceledException">The token cancelled the enumeration.</exception>
    IAsyncEnumerable<SubscriberChange> WatchSubscribersAsync(CancellationToken cancellationToken = default);

    /// <summary>
    /// Drains the endpoint. It accepts no more messages, and the task completes when all accepted messages are stable. Attached feeds are
    /// detached: what they have given is sent, and they are not asked for more. Readers continue.
    /// </summary>
    /// <param name="cancellationToken">
    /// Ends the wait: members that do not answer, or a handler that blocks the core thread, make it long. The endpoint accepts no messages
    /// all the same, and another call waits longer.
    /// </param>
    /// <exception cref="OperationCanceledException">
    /// The token or <see cref="ITopicEndpoint.Cancel"/> cancelled the wait, and not all accepted messages are known to be stable.
    /// </exception>
    /// <exception cref="InvalidOperationException">The endpoint was cancelled before the call.</exception>
    /// <exception cref="ObjectDisposedException">
    /// The endpoint or its node was disposed, before the call or before all was stable.
    /// </exception>
    /// <exception cref="QuickSilverException">
    /// The endpoint ended before all was stable, for the reason that this says, such as <see cref="NodeExpelledException"/>.
    /// </exception>
    Task DrainAsync(CancellationToken cancellationToken = default);

    /// <summary>
    /// The messages that this endpoint accepted and dropped before they were sent, because it was disposed or cancelled, or its node ended.
    /// 0 while it is open; final when the task of <see cref="IAsyncDisposable.DisposeAsync"/> has completed. Messages whose call waits with
    /// <see cref="PublishCompletion.Stable"/> are not among them: the call fails. The log has the number by topic (event 1660), and
    /// <see cref="NodeCounters.PublishDrops"/> the sum.
    /// </summary>
    long Dropped { get; }
}
