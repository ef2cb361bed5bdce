using System.Runtime.CompilerServices;

namespace QuickSilver;

/// <summary>A received message. It is a struct, so receiving allocates only the value.</summary>
/// <typeparam name="T">The topic's payload type.</typeparam>
/// <param name="Value">The payload.</param>
/// <param name="Sender">The incarnation of the node that published the message.</param>
/// <param name="Sequence">The message's number among that sender's messages in this topic, starting at 1.</param>
public readonly record struct Message<T>(T Value, SenderId Sender, long Sequence)
{
    // Fields, so that a large struct is decoded where it is handed over: it is neither copied nor cleared before.
    private readonly T _value = Value;
    private readonly SenderId _sender = Sender;
    private readonly long _sequence = Sequence;

    /// <summary>The payload.</summary>
    public T Value
    {
        get => _value;
        init => _value = value;
    }

    /// <summary>The incarnation of the node that published the message.</summary>
    public SenderId Sender
    {
        get => _sender;
        init => _sender = value;
    }

    /// <summary>The message's number among that sender's messages in this topic, starting at 1.</summary>
    public long Sequence
    {
        get => _sequence;
        init => _sequence = value;
    }

    /// <summary>
    /// Initializes a message without a payload. The payload is undefined until it is written to the reference that this returns.
    /// </summary>
    internal static ref T Begin(ref Message<T> message, SenderId sender, long sequence)
    {
        Unsafe.AsRef(in message._sender) = sender;
        Unsafe.AsRef(in message._sequence) = sequence;
        return ref Unsafe.AsRef(in message._value);
    }
}

/// <summary>An incarnation of a publishing node. A node that restarts may have the same id, but never the same incarnation.</summary>
/// <param name="Id">The random id of the node.</param>
/// <param name="Incarnation">The incarnation of the node.</param>
public readonly record struct SenderId(ulong Id, uint Incarnation)
{
    /// <inheritdoc/>
    public override string ToString() => $"{Id:x16}.{Incarnation}";
}

/// <summary>A range of a sender's messages that cannot be delivered to this endpoint.</summary>
/// <param name="Sender">The sender of the messages.</param>
/// <param name="First">The first missing number.</param>
/// <param name="Last">The last missing number.</param>
/// <param name="Reason">The reason: the sender failed, the reader was slow, or the guarantee allows the loss.</param>
public readonly record struct GapNotice(SenderId Sender, long First, long Last, string Reason)
{
    /// <summary>The number of missing messages.</summary>
    public long Count => Last - First + 1;
}

/// <summary>
/// Handles a message on the node's core thread. It must not block, and must not keep <c>message.Value</c> of a
/// <see cref="ReadOnlyMemory{T}"/> payload after it returns.
/// </summary>
/// <typeparam name="T">The topic's payload type.</typeparam>
/// <param name="message">The message.</param>
public delegate void MessageHandler<T>(in Message<T> message);

/// <summary>Provides a message when the network is ready to send one (the pull model of QSM, section 3 of the paper).</summary>
/// <typeparam name="T">The topic's payload type.</typeparam>
/// <param name="value">The message to send.</param>
/// <returns>False when there is nothing to send now. Call <see cref="IAttachedFeed.Signal"/> to be called again.</returns>
public delegate bool FeedCallback<T>(out T value);

/// <summary>A feed attached to a topic.</summary>
public interface IAttachedFeed : IDisposable
{
    /// <summary>Signals that there is something to send. Callable from any thread.</summary>
    void Signal();
}

/// <summary>An open endpoint of a topic. Thread-safe.</summary>
/// <typeparam name="T">The payload type.</typeparam>
public interface ITopic<T> : IAsyncDisposable
{
    /// <summary>The topic's name.</summary>
    string Name { get; }

    /// <summary>The number of subscribers in the topic's current view, including this endpoint if it subscribes.</summary>
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
    /// The endpoint does not publish, is draining, or was cancelled; or the value cannot be encoded because it nests too deep or a
    /// collection in it contains null.
    /// </exception>
    /// <exception cref="ObjectDisposedException">The endpoint or its node was disposed.</exception>
    /// <exception cref="NodeExpelledException">The membership service removed the node.</exception>
    /// <exception cref="MessageTooLargeException">
    /// The encoded message is larger than 16 MiB, or larger than the node's packet memory can hold for all regions of the topic together.
    /// </exception>
    /// <exception cref="OperationCanceledException">
    /// The token or <see cref="Cancel"/> cancelled the call while it waited. If the token cancelled it, the message was not published,
    /// unless the call waited only for the message to become stable.
    /// </exception>
    /// <remarks>
    /// Callable from any thread, including from handlers and feeds. Handlers and feeds must not block on it, because room is made on their
    /// thread. The value is encoded before the method returns and may be changed afterwards. A call that runs while another thread drains,
    /// cancels or disposes the endpoint may throw although its message is sent. If a call completes, its message was accepted before.
    /// </remarks>
    ValueTask PublishAsync(T value, CancellationToken cancellationToken = default);

    /// <summary>Publishes a message by reference, which avoids copies of a large struct.</summary>
    /// <inheritdoc cref="PublishAsync(T, CancellationToken)"/>
    ValueTask PublishAsync(in T value, CancellationToken cancellationToken = default) => PublishAsync(value, cancellationToken);

    /// <summary>Publishes a message and completes as specified by <paramref name="completion"/>.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The completion is not a defined value.</exception>
    /// <inheritdoc cref="PublishAsync(T, CancellationToken)"/>
    ValueTask PublishAsync(T value, PublishCompletion completion, CancellationToken cancellationToken = default);

    /// <summary>
    /// Attaches a feed. It is called on the core thread whenever the network has room for a message, until it returns false.
    /// </summary>
    /// <remarks>
    /// The feed must not block. Its messages are encoded before it is called again, and are sent in the order of the calls. Messages
    /// published at the same time may overtake a feed's message that finds no room. If a feed throws or provides a message that is too
    /// large, this is logged and counted, and the feed is called again when it signals. Dispose the result to detach the feed: it is not
    /// called again, and its messages are sent. <see cref="DrainAsync"/> also detaches it, and <see cref="Cancel"/> also drops its messages
    /// that were not sent yet.
    /// </remarks>
    /// <exception cref="InvalidOperationException">The endpoint does not publish, is draining, or was cancelled.</exception>
    /// <exception cref="ObjectDisposedException">The endpoint or its node was disposed.</exception>
    /// <exception cref="NodeExpelledException">The membership service removed the node.</exception>
    IAttachedFeed AttachFeed(FeedCallback<T> feed);

    /// <summary>
    /// Calls <paramref name="handler"/> on the core thread for each message, with the lowest latency. The handler must not block. Its
    /// exceptions are logged and counted, and the next message is delivered as usual. Dispose the result to detach it.
    /// </summary>
    /// <remarks>
    /// The first handler of an endpoint without a reader first receives the messages that were buffered since the endpoint was opened, in
    /// order and in one batch: up to <see cref="TopicOptions.ReaderCapacity"/> messages, preceded by a gap for messages that did not fit. A
    /// later handler starts with the messages that arrive from then on. If a handler is detached or the endpoint is cancelled while a
    /// message is being handled, that call completes.
    /// </remarks>
    /// <param name="handler">The handler. It is called on the core thread, for one message at a time.</param>
    /// <param name="onGap">
    /// The gap handler. It is called on the core thread, in order with the messages, for messages that cannot be delivered.
    /// </param>
    /// <exception cref="InvalidOperationException">The endpoint does not subscribe, or was cancelled.</exception>
    /// <exception cref="ObjectDisposedException">The endpoint or its node was disposed.</exception>
    /// <exception cref="NodeExpelledException">The membership service removed the node.</exception>
    IDisposable Handle(MessageHandler<T> handler, Action<GapNotice>? onGap = null);

    /// <summary>
    /// Reads messages as they arrive, from the bounded buffer of this endpoint. The stream ends when the topic is cancelled or disposed. An
    /// endpoint has one reader at a time. <paramref name="onGap"/> is called, in order with the messages, for messages that this reader
    /// cannot receive.
    /// </summary>
    /// <remarks>
    /// Reading starts when the stream is enumerated. A second enumeration at the same time throws <see cref="InvalidOperationException"/>.
    /// If an enumeration stops early, the remaining messages wait for the next one, within <see cref="TopicOptions.ReaderCapacity"/>. After
    /// the buffered messages, the readers of an expelled node end with <see cref="NodeExpelledException"/>, and a reader that exceeds
    /// <see cref="TopicOptions.SlowReaderLimit"/> ends with <see cref="SlowReaderException"/>. The bytes of a
    /// <see cref="ReadOnlyMemory{T}"/> payload are valid until the reader requests the next message: they are in a buffer that is reused,
    /// so that reading does not allocate. Copy bytes that you keep longer, or subscribe with <c>byte[]</c>, which is allocated per message.
    /// Handlers and the reader of one endpoint receive the same object.
    /// </remarks>
    IAsyncEnumerable<Message<T>> ReadAllAsync(CancellationToken cancellationToken = default, Action<GapNotice>? onGap = null);

    /// <summary>
    /// Completes when the topic has at least <paramref name="count"/> subscribers, including this endpoint if it subscribes.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">The count is negative.</exception>
    /// <exception cref="OperationCanceledException">The token or <see cref="Cancel"/> cancelled the call.</exception>
    /// <exception cref="ObjectDisposedException">The endpoint or its node was disposed.</exception>
    /// <exception cref="NodeExpelledException">The membership service removed the node.</exception>
    Task WaitForSubscribersAsync(int count, CancellationToken cancellationToken = default);

    /// <summary>
    /// Drains the endpoint. It accepts no more messages, and the task completes with true when all accepted messages are stable. It
    /// completes with false if members did not acknowledge within <paramref name="limit"/> (0 to 24 hours; one second by default). Readers
    /// continue.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">The limit is negative or longer than 24 hours.</exception>
    /// <exception cref="ObjectDisposedException">The endpoint was disposed.</exception>
    Task<bool> DrainAsync(TimeSpan? limit = null);

    /// <summary>
    /// Cancels the endpoint immediately: drops messages that wait to be sent or read, and ends readers, handlers and feeds. Publish calls
    /// that wait, for room or for stability, end with <see cref="OperationCanceledException"/>. Afterwards the endpoint can only be
    /// disposed. Disposing without cancelling gives accepted messages up to half a second to become stable, and lets the reader finish the
    /// buffered messages.
    /// </summary>
    void Cancel();
}
