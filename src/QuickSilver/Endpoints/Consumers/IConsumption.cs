namespace QuickSilver;

/// <summary>
/// A consumer that was subscribed to a topic. Each message that it took is counted once, in <see cref="Handled"/>, <see cref="Skipped"/>,
/// <see cref="Failed"/> or <see cref="Abandoned"/>. Thread-safe.
/// </summary>
/// <remarks>
/// Disposing ends the consumer: it takes no more messages, the token of running calls is cancelled, and the task completes when they have
/// returned. There is no limit on that wait, as the calls are the application's own: <see cref="StopAsync"/> has one. A consumer must not
/// await it, because it would wait for itself. Messages that the consumer has not taken stay in the endpoint's buffer.
/// </remarks>
public interface IConsumption : IAsyncDisposable
{
    /// <summary>
    /// Completes when the consumer has ended and its last call has returned. It never fails: the reason is in its result.
    /// </summary>
    Task<SubscriptionEnd> Completion { get; }

    /// <summary>Messages that were handled.</summary>
    long Handled { get; }

    /// <summary>Calls beyond the first for one message.</summary>
    long Retried { get; }

    /// <summary>Messages that the error policy skipped, each after its last attempt.</summary>
    long Skipped { get; }

    /// <summary>Messages on which the consumer failed and which stopped it. More than one if several were being handled.</summary>
    long Failed { get; }

    /// <summary>
    /// Messages that were taken, and neither handled nor skipped when the consumer ended: their calls failed after their token was
    /// cancelled, or they waited for a worker. At most 17 for each worker, and one.
    /// </summary>
    long Abandoned { get; }

    /// <summary>
    /// Ends the consumer after the messages that it has taken: it takes no more, and those are handled, with their retries. When the token
    /// is cancelled, the token of running calls is cancelled too, and this call ends.
    /// </summary>
    /// <exception cref="OperationCanceledException">The token was cancelled before the last call returned.</exception>
    Task StopAsync(CancellationToken cancellationToken = default);
}
