namespace QuickSilver;

/// <summary>
/// Handles a message on the node's core thread. It must not block, and must not keep <c>message.Value</c> of a
/// <see cref="ReadOnlyMemory{T}"/> payload after it returns.
/// </summary>
/// <typeparam name="T">The topic's payload type.</typeparam>
/// <param name="message">The message.</param>
public delegate void MessageHandler<T>(in Message<T> message);

/// <summary>An open endpoint of a topic that subscribes. Thread-safe.</summary>
/// <typeparam name="T">The payload type.</typeparam>
public interface ITopicSubscriber<T> : ITopicEndpoint
{
    /// <summary>
    /// Calls <paramref name="handler"/> inline, on the node's core thread, for each message, with the lowest latency. The handler must not
    /// block or wait: while it runs, the node does nothing else. To wait, use <see cref="Subscribe"/> or
    /// <see cref="ReadAllAsync"/>. The handler's exceptions are logged and counted, and the next message is delivered as
    /// usual. Dispose the result to detach the handler.
    /// </summary>
    /// <remarks>
    /// The first handler of an endpoint without a reader first receives the messages that were buffered since the endpoint was opened, in
    /// order and in one batch: up to <see cref="TopicOptions.ReaderCapacity"/> messages, preceded by a gap for messages that did not fit. A
    /// later handler starts with the messages that arrive after that. If a handler is detached or the endpoint is cancelled while a
    /// message is being handled, that call completes.
    /// </remarks>
    /// <param name="handler">The handler. It is called on the core thread, for one message at a time.</param>
    /// <param name="onGap">
    /// The gap handler. It is called on the core thread, in order with the messages, for messages that cannot be delivered.
    /// </param>
    /// <param name="onEnded">
    /// Called once, on the core thread and after the last message, when the endpoint has ended. Not called after the result was disposed.
    /// </param>
    /// <exception cref="InvalidOperationException">The endpoint was cancelled.</exception>
    /// <exception cref="ObjectDisposedException">The endpoint or its node was disposed.</exception>
    /// <exception cref="NodeExpelledException">The membership service removed the node.</exception>
    ISubscription SubscribeInline(MessageHandler<T> handler, Action<GapNotice>? onGap = null, Action<SubscriptionEnd>? onEnded = null);

    /// <summary>
    /// Calls <paramref name="consumer"/> for each message, outside the core thread, so that it may wait. Messages are taken from the
    /// bounded buffer of this endpoint when the consumer is ready for them: the consumer is the endpoint's reader, and an endpoint has one
    /// reader at a time. <see cref="TopicOptions.SlowReader"/> decides what happens when it is slow: by default, the senders of the topic
    /// wait.
    /// </summary>
    /// <remarks>
    /// The consumer first receives the messages that were buffered since the endpoint was opened. It ends when its result is disposed or
    /// stopped, when its error policy stops it, and when the endpoint ends, after the buffered messages. If the endpoint is cancelled,
    /// these are dropped, and the token of running calls is cancelled. The bytes of a <see cref="ReadOnlyMemory{T}"/> payload are valid
    /// until the task of their call has completed. The library allocates nothing per message.
    /// </remarks>
    /// <param name="consumer">
    /// The consumer. It is called on a thread of the thread pool; in a simulation, as code of the node's process. By default, for one
    /// message at a time: the next one waits until the returned task has completed. Its token is cancelled when the consumer is disposed,
    /// stops because of an error, or the endpoint is cancelled. Exceptions are handled by <see cref="ConsumerOptions{T}.OnError"/>.
    /// </param>
    /// <param name="options">The options. Null: the defaults.</param>
    /// <exception cref="QuickSilverOptionsException">An option is invalid.</exception>
    /// <exception cref="InvalidOperationException">The endpoint was cancelled, or already has a reader or a consumer.</exception>
    /// <exception cref="ObjectDisposedException">The endpoint or its node was disposed.</exception>
    /// <exception cref="NodeExpelledException">The membership service removed the node.</exception>
    IConsumption Subscribe(Func<Message<T>, CancellationToken, ValueTask> consumer, ConsumerOptions<T>? options = null);

    /// <summary>
    /// The messages as an <see cref="IObservable{T}"/>. Each observer is called inline, on the node's core thread, as a handler of
    /// <see cref="SubscribeInline"/> is: it must not block, and its exceptions are logged and counted.
    /// </summary>
    /// <remarks>
    /// <see cref="IObserver{T}.OnCompleted"/> is called when the endpoint is cancelled or disposed, and <see cref="IObserver{T}.OnError"/>,
    /// with the reason, when it ended otherwise: <see cref="NodeExpelledException"/>, <see cref="ContractMismatchException"/> or <see
    /// cref="SlowReaderException"/>. Both are called on the core thread after the last message. An observer that subscribes afterwards is
    /// notified at once, on its own thread. Dispose a subscription to detach its observer, which then gets no more calls. Gaps are not
    /// observed: use <see cref="SubscribeInline"/> to get them.
    /// </remarks>
    /// <returns>An observable that may be subscribed to any number of times, from any thread.</returns>
    /// <exception cref="InvalidOperationException">The endpoint was cancelled.</exception>
    /// <exception cref="ObjectDisposedException">The endpoint or its node was disposed.</exception>
    /// <exception cref="NodeExpelledException">The membership service removed the node.</exception>
    IObservable<Message<T>> AsObservable();

    /// <summary>
    /// Reads messages as they arrive, from the bounded buffer of this endpoint. The stream ends when the endpoint is cancelled or disposed,
    /// after the messages that were acknowledged for it. An endpoint has one reader at a time.
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
    /// <param name="onGap">
    /// Called, in order with the messages, for messages that this reader cannot receive. If the endpoint is cancelled or its node has
    /// ended, this includes the messages that were acknowledged for it.
    /// </param>
    /// <param name="cancellationToken">Cancels reading. The token of the enumeration does so, too.</param>
    IAsyncEnumerable<Message<T>> ReadAllAsync(Action<GapNotice>? onGap = null, CancellationToken cancellationToken = default);
}

/// <summary>Calls of <see cref="ITopicSubscriber{T}"/> with fewer arguments.</summary>
public static class TopicSubscriberExtensions
{
    /// <summary>
    /// Reads messages as they arrive, as <see cref="ITopicSubscriber{T}.ReadAllAsync"/> does without a callback for gaps.
    /// </summary>
    /// <typeparam name="T">The payload type.</typeparam>
    /// <param name="subscriber">The endpoint.</param>
    /// <param name="cancellationToken">Cancels reading. The token of the enumeration does so, too.</param>
    /// <exception cref="ArgumentNullException">The endpoint is null.</exception>
    public static IAsyncEnumerable<Message<T>> ReadAllAsync<T>(
        this ITopicSubscriber<T> subscriber, CancellationToken cancellationToken)
    {
        ArgumentNullException.ThrowIfNull(subscriber);
        return subscriber.ReadAllAsync(onGap: null, cancellationToken);
    }
}
