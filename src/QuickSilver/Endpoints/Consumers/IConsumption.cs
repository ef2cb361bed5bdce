namespace QuickSilver;

/// <summary>
/// A consumer that was subscribed to a topic. Each message that it took is counted once, in <see cref="Handled"/>, <see cref="Skipped"/>,
/// <see cref="Failed"/> or <see cref="Abandoned"/>. Thread-safe.
/// </summary>
/// <remarks>
/// Disposing ends the consumer: it takes no more messages, the token of running calls is cancelled, and the task of <see
/// cref="IAsyncDisposable.DisposeAsync"/> completes when they have returned. There is no limit on that wait, as the calls are the
/// application's own: <see cref="StopAsync"/> has one. What the consumer had taken and did not handle is reported as a gap. Messages that
/// it has not taken stay in the endpoint's buffer, for the next consumer or reader, and are reported when the endpoint ends. A call that
/// comes from the consumer itself does not wait.
/// </remarks>
public interface IConsumption : ISubscription
{
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
    /// Ends the consumer in order. The endpoint leaves the topic, so that nothing more is acknowledged for it, and the consumer handles
    /// everything that was, with its retries. When the token is cancelled, the token of running calls is cancelled too, the rest is dropped
    /// and reported as gaps with the reason <see cref="GapReason.SubscriberEnded"/>, and this call ends.
    /// </summary>
    /// <remarks>
    /// The endpoint receives nothing afterwards, and its handlers end as well. A publisher of the same endpoint continues. A call that
    /// comes from the consumer itself, or from one of its callbacks, begins the end and does not wait for it.
    /// </remarks>
    /// <exception cref="OperationCanceledException">The token was cancelled before the last call returned.</exception>
    Task StopAsync(CancellationToken cancellationToken = default);
}
