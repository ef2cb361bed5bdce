namespace QuickSilver.Hosting;

/// <summary>
/// Handles the messages of a topic outside the node's core thread, so that it may wait. Register it with
/// <see cref="QuickSilverBuilder.AddConsumer{T, TConsumer}(string, ConsumerOptions{T}?, ConsumerScope, TopicOptions?)"/>.
/// </summary>
/// <typeparam name="T">The topic's payload type.</typeparam>
public interface IConsumer<T>
{
    /// <summary>
    /// Handles a message. Called on a thread of the thread pool; by default, for one message at a time and in order. An exception is
    /// handled by <see cref="ConsumerOptions{T}.OnError"/>.
    /// </summary>
    /// <param name="message">
    /// The message. The bytes of a <see cref="ReadOnlyMemory{T}"/> payload are valid until the returned task has completed.
    /// </param>
    /// <param name="cancellationToken">
    /// Cancelled when the consumer stops: because of an error, or because the host's stop exceeded its limit.
    /// </param>
    ValueTask ConsumeAsync(Message<T> message, CancellationToken cancellationToken);

    /// <summary>
    /// Called for each message that the error policy skips. If it throws, the consumer stops. See
    /// <see cref="ConsumerOptions{T}.OnDeadLetter"/>.
    /// </summary>
    ValueTask OnDeadLetterAsync(DeadLetter<T> letter, CancellationToken cancellationToken) => ValueTask.CompletedTask;

    /// <summary>Called for messages that cannot be delivered. See <see cref="ConsumerOptions{T}.OnGap"/>.</summary>
    void OnGap(GapNotice gap)
    {
    }

    /// <summary>
    /// Called once, when no message follows: the host has stopped, or the consumer has stopped because of an error. Not called when the
    /// node is replaced, as the consumer continues on the next one.
    /// </summary>
    void OnEnded(SubscriptionEnd end)
    {
    }
}

/// <summary>For what a consumer of a host is created.</summary>
public enum ConsumerScope
{
    /// <summary>Each call has a scope of its own, from which the consumer and its scoped services are resolved.</summary>
    Message = 0,

    /// <summary>One scope and one consumer for all messages, until the host stops.</summary>
    Consumer = 1,
}
