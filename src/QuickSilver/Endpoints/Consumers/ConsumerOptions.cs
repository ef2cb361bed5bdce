namespace QuickSilver;

/// <summary>
/// The options of a consumer. Its callbacks are called as the consumer is: outside the core thread, so that they may wait. Their exceptions
/// are logged and counted, unless stated otherwise. A consumer takes a copy of the options when it is subscribed, so a later change has no
/// effect.
/// </summary>
/// <typeparam name="T">The topic's payload type.</typeparam>
public sealed class ConsumerOptions<T>
{
    /// <summary>
    /// The maximum number of messages that are handled at the same time: 1 to 1,024; default 1, which keeps the order of the messages. With
    /// more, there is no order, unless <see cref="WithKey"/> gives one per key.
    /// </summary>
    public int Concurrency { get; set; } = 1;

    /// <summary>What happens when the consumer throws. Default: <see cref="ConsumerErrors.Skip"/>.</summary>
    public ConsumerErrors OnError { get; set; } = ConsumerErrors.Skip;

    /// <summary>
    /// Called for each message that the error policy skips. The next message of the same order waits until the call has completed. If it
    /// throws, the consumer ends with <see cref="SubscriptionEndReason.ConsumerFailed"/>, so that no message is lost silently.
    /// Default: null, the message is only logged and counted.
    /// </summary>
    public Func<DeadLetter<T>, CancellationToken, ValueTask>? OnDeadLetter { get; set; }

    /// <summary>
    /// Called for messages that cannot be delivered, one call at a time. In order with the messages if <see cref="Concurrency"/> is 1;
    /// otherwise messages before the gap may still be handled.
    /// </summary>
    public Action<GapNotice>? OnGap { get; set; }

    /// <summary>Called once, when the last call of the consumer has completed and no other follows.</summary>
    public Action<SubscriptionEnd>? OnEnded { get; set; }

    /// <summary>The hash of a message's key. Null: messages have no key.</summary>
    internal Func<T, int>? KeyHash { get; private set; }

    /// <summary>
    /// Keeps the order of messages with equal keys, however many messages are handled at the same time. Keys are distributed to the workers
    /// by their hash, so a message may wait for one with another key. Of the key types, string has the same hash in every process.
    /// </summary>
    /// <param name="keyOf">
    /// The key of a payload. It is called once for each message, for one at a time. An exception counts as one of the consumer, except that
    /// it is not retried.
    /// </param>
    /// <returns>A copy of these options, with the key.</returns>
    public ConsumerOptions<T> WithKey<TKey>(Func<T, TKey> keyOf)
    {
        ArgumentNullException.ThrowIfNull(keyOf);
        return Copy(copy => copy.KeyHash = value => ConsumerKey<TKey>.HashOf(keyOf(value)));
    }

    /// <summary>A copy, which is then changed.</summary>
    internal ConsumerOptions<T> Copy(Action<ConsumerOptions<T>>? change = null)
    {
        var copy = (ConsumerOptions<T>)MemberwiseClone();
        change?.Invoke(copy);
        return copy;
    }
}

/// <summary>A message that a consumer's error policy skipped.</summary>
/// <typeparam name="T">The topic's payload type.</typeparam>
/// <param name="Message">The message. Bytes of a <see cref="ReadOnlyMemory{T}"/> payload are valid until the call has completed.</param>
/// <param name="Exception">What the consumer threw at last.</param>
/// <param name="Attempts">How often the consumer was called with the message. 0 if its key could not be read.</param>
public readonly record struct DeadLetter<T>(Message<T> Message, Exception Exception, int Attempts);
