using System.Runtime.CompilerServices;

namespace QuickSilver;

/// <summary>A received message. A struct: receiving allocates nothing but the value itself.</summary>
/// <typeparam name="T">The topic's payload type.</typeparam>
/// <param name="Value">The payload.</param>
/// <param name="Sender">Which life of which node published it.</param>
/// <param name="Sequence">Its number among that sender's messages in this topic, from 1.</param>
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

    /// <summary>Which life of which node published it.</summary>
    public SenderId Sender
    {
        get => _sender;
        init => _sender = value;
    }

    /// <summary>Its number among that sender's messages in this topic, from 1.</summary>
    public long Sequence
    {
        get => _sequence;
        init => _sequence = value;
    }

    /// <summary>Begins a message; its payload is undefined until it was put where this says.</summary>
    internal static ref T Begin(ref Message<T> message, SenderId sender, long sequence)
    {
        Unsafe.AsRef(in message._sender) = sender;
        Unsafe.AsRef(in message._sequence) = sequence;
        return ref Unsafe.AsRef(in message._value);
    }
}

/// <summary>One life of a publishing node: a restarted node has the same id at most, never the same incarnation.</summary>
/// <param name="Id">The node's id, drawn at random.</param>
/// <param name="Incarnation">Which life of it.</param>
public readonly record struct SenderId(ulong Id, uint Incarnation)
{
    /// <inheritdoc/>
    public override string ToString() => $"{Id:x16}.{Incarnation}";
}

/// <summary>A range of a sender's messages that this endpoint will never get. Never silence.</summary>
/// <param name="Sender">Whose messages.</param>
/// <param name="First">The first number missing.</param>
/// <param name="Last">The last number missing.</param>
/// <param name="Reason">Why: the sender failed, the reader was slow, the guarantee allows it.</param>
public readonly record struct GapNotice(SenderId Sender, long First, long Last, string Reason)
{
    /// <summary>How many messages are missing.</summary>
    public long Count => Last - First + 1;
}

/// <summary>Handles a message on the node's core thread: must not block, and must not keep <c>message.Value</c> of a
/// <see cref="ReadOnlyMemory{T}"/> payload after it returns.</summary>
/// <typeparam name="T">The topic's payload type.</typeparam>
/// <param name="message">The message.</param>
public delegate void MessageHandler<T>(in Message<T> message);

/// <summary>Fills a message when the network is ready to take one (the pull model of QSM, section 3 of the paper).</summary>
/// <typeparam name="T">The topic's payload type.</typeparam>
/// <param name="value">The message to send.</param>
/// <returns>False when there is nothing to send now; <see cref="IAttachedFeed.Signal"/> asks to be pulled again.</returns>
public delegate bool FeedCallback<T>(out T value);

/// <summary>A feed attached to a topic.</summary>
public interface IAttachedFeed : IDisposable
{
    /// <summary>Says that there is something to send. Callable from any thread.</summary>
    void Signal();
}

/// <summary>An open endpoint of a topic. Thread-safe.</summary>
/// <typeparam name="T">The payload type.</typeparam>
public interface ITopic<T> : IAsyncDisposable
{
    /// <summary>The topic's name.</summary>
    string Name { get; }

    /// <summary>Subscribers in the topic's current view, this endpoint included when it subscribes.</summary>
    /// <remarks>
    /// May be 0 for some tens of milliseconds after a publisher has opened, though there are subscribers: the view with them
    /// comes after the grant. <see cref="WaitForSubscribersAsync"/> waits for it; do not take a first 0 for an empty topic.
    /// </remarks>
    int Subscribers { get; }

    /// <summary>
    /// Publishes a message; completes when the node has accepted it. Completes at once unless the queue is full; then it
    /// waits for room, which is the back-pressure. Allocates nothing when it completes at once.
    /// </summary>
    /// <exception cref="ArgumentNullException">The value is null.</exception>
    /// <exception cref="InvalidOperationException">
    /// The endpoint does not publish, drains, or was cancelled; or the value cannot be encoded: it nests too deep, or a collection in it
    /// holds null.
    /// </exception>
    /// <exception cref="ObjectDisposedException">The endpoint or its node was disposed.</exception>
    /// <exception cref="NodeExpelledException">The membership service removed the node.</exception>
    /// <exception cref="MessageTooLargeException">
    /// The encoded message is larger than 16 MiB, or than the node's packet memory can hold for all regions of the topic together.
    /// </exception>
    /// <exception cref="OperationCanceledException">
    /// The token, or <see cref="Cancel"/>, ended it while it waited. Cancelled by the token, it was not published, unless it
    /// waited only to be stable.
    /// </exception>
    /// <remarks>
    /// Callable from any thread, handlers and feeds included; but those must not block for it, since the room that it waits for
    /// is made on their thread. The value is encoded before this returns: it may be changed afterwards. A publish during which another
    /// thread drains, cancels or disposes the endpoint may throw though its message is sent; one that completes was accepted before.
    /// </remarks>
    ValueTask PublishAsync(T value, CancellationToken cancellationToken = default);

    /// <summary>As the other, for a large struct: by reference, which spares its copies.</summary>
    /// <inheritdoc cref="PublishAsync(T, CancellationToken)"/>
    ValueTask PublishAsync(in T value, CancellationToken cancellationToken = default) => PublishAsync(value, cancellationToken);

    /// <summary>Publishes a message and completes as <paramref name="completion"/> says.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The completion is none of the named ones.</exception>
    /// <inheritdoc cref="PublishAsync(T, CancellationToken)"/>
    ValueTask PublishAsync(T value, PublishCompletion completion, CancellationToken cancellationToken = default);

    /// <summary>Attaches a feed: called on the core thread whenever the network can take a message, until it returns false.</summary>
    /// <remarks>
    /// It must not block. What it gives is encoded before it is asked again, and goes in the order in which it was asked; what
    /// is published meanwhile may overtake a message that finds no room. A feed that throws, or gives a message that is too
    /// large, is logged, counted, and asked again when it signals. Dispose the result to detach: it is not asked any more, and
    /// what it gave is sent. <see cref="DrainAsync"/> detaches, and <see cref="Cancel"/> also drops what was not sent yet.
    /// </remarks>
    /// <exception cref="InvalidOperationException">The endpoint does not publish, drains, or was cancelled.</exception>
    /// <exception cref="ObjectDisposedException">The endpoint or its node was disposed.</exception>
    /// <exception cref="NodeExpelledException">The membership service removed the node.</exception>
    IAttachedFeed AttachFeed(FeedCallback<T> feed);

    /// <summary>
    /// Calls <paramref name="handler"/> on the core thread for each message: the least latency. It must not block; an
    /// exception is logged and counted, and the next message comes all the same. Dispose the result to detach.
    /// </summary>
    /// <remarks>
    /// Where neither a handler nor a reader came before, the handler is first given what was buffered since the opening, in
    /// order and at one go: up to <see cref="TopicOptions.ReaderCapacity"/> messages, and before them a gap for those that had
    /// no room. Otherwise it begins with what comes from now on. A message that is being handled while the handler is
    /// detached, or the endpoint cancelled, is handled to its end.
    /// </remarks>
    /// <param name="handler">Called on the core thread, for one message after the other.</param>
    /// <param name="onGap">Called on the core thread too, in order with the messages, for what will never come.</param>
    /// <exception cref="InvalidOperationException">The endpoint does not subscribe, or was cancelled.</exception>
    /// <exception cref="ObjectDisposedException">The endpoint or its node was disposed.</exception>
    /// <exception cref="NodeExpelledException">The membership service removed the node.</exception>
    IDisposable Handle(MessageHandler<T> handler, Action<GapNotice>? onGap = null);

    /// <summary>
    /// Reads messages as they come, from the bounded buffer of this endpoint. Ends when the topic is cancelled or disposed.
    /// One reader at a time. <paramref name="onGap"/> is called, in order with the messages, for what this reader will never get.
    /// </summary>
    /// <remarks>
    /// Nothing happens until the stream is walked; a second walk while the first goes on throws
    /// <see cref="InvalidOperationException"/>. What is left when a walk is broken off waits for the next, as
    /// <see cref="TopicOptions.ReaderCapacity"/> says. An expelled node's readers end with
    /// <see cref="NodeExpelledException"/> after what they still have, and one that takes longer than
    /// <see cref="TopicOptions.SlowReaderLimit"/> with <see cref="SlowReaderException"/>.
    /// The bytes of a <see cref="ReadOnlyMemory{T}"/> payload are the reader's until it asks for the next message: they lie
    /// in a buffer that is used again, so that reading allocates nothing. Copy what is kept longer, or subscribe with
    /// <c>byte[]</c>, which is allocated per message. Handlers and the reader of one endpoint are given the same object.
    /// </remarks>
    IAsyncEnumerable<Message<T>> ReadAllAsync(CancellationToken cancellationToken = default, Action<GapNotice>? onGap = null);

    /// <summary>Completes when the topic has at least so many subscribers (this endpoint included when it subscribes).</summary>
    /// <exception cref="ArgumentOutOfRangeException">The count is negative.</exception>
    /// <exception cref="OperationCanceledException">The token or <see cref="Cancel"/> ended it.</exception>
    /// <exception cref="ObjectDisposedException">The endpoint or its node was disposed.</exception>
    /// <exception cref="NodeExpelledException">The membership service removed the node.</exception>
    Task WaitForSubscribersAsync(int count, CancellationToken cancellationToken = default);

    /// <summary>
    /// Drains: takes no more to publish, and completes when all that was accepted is stable. Readers go on. Ends within
    /// <paramref name="limit"/> (one second by default; no time to a day) with false when peers did not acknowledge in time.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">The limit is negative or longer than a day.</exception>
    /// <exception cref="ObjectDisposedException">The endpoint was disposed.</exception>
    Task<bool> DrainAsync(TimeSpan? limit = null);

    /// <summary>Cancels: drops what waits to be sent or read, ends readers, handlers and feeds, at once; publishes that wait,
    /// for room or to be stable, end with <see cref="OperationCanceledException"/>. The endpoint stays open as an object only
    /// to be disposed. Disposing without cancelling gives what was accepted up to half a second to become stable, and lets
    /// the reader finish what it has.</summary>
    void Cancel();
}
