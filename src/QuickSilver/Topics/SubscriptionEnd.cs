namespace QuickSilver;

/// <summary>Why a subscriber gets no more messages.</summary>
public enum SubscriptionEndReason
{
    /// <summary>The application disposed the endpoint, or stopped the consumer. Messages that were buffered were handled first.</summary>
    Disposed = 0,

    /// <summary>The application cancelled the endpoint. Messages that were buffered were dropped.</summary>
    Cancelled = 1,

    /// <summary>The node stopped.</summary>
    NodeStopped = 2,

    /// <summary>The membership service removed the node, or the node left by itself: <see cref="NodeExpelledException"/>.</summary>
    NodeExpelled = 3,

    /// <summary>The topic is open elsewhere with a contract that does not match: <see cref="ContractMismatchException"/>.</summary>
    ContractMismatch = 4,

    /// <summary>
    /// The endpoint blocked the senders for longer than <see cref="TopicOptions.SlowReaderLimit"/>: <see cref="SlowReaderException"/>.
    /// </summary>
    ReaderTooSlow = 5,

    /// <summary>
    /// A consumer failed on a message, and its error policy stops it: <see cref="ConsumerFailedException"/>. The endpoint is still open.
    /// </summary>
    ConsumerFailed = 6,

    /// <summary>
    /// A handler blocked the core thread for longer than <see cref="QuickSilverOptions.HandlerLimit"/>: <see cref="SlowHandlerException"/>.
    /// </summary>
    HandlerTooSlow = 7,

    /// <summary>The service has other rules of access than before: <see cref="TopicAccessDeniedException"/>.</summary>
    AccessDenied = 8,
}

/// <summary>How a subscriber ended. Handlers, observers, readers and consumers of an endpoint end for the same reason.</summary>
/// <param name="Reason">The reason.</param>
/// <param name="Error">The exception that a reader throws at this end. Null if the application ended the subscriber.</param>
public readonly record struct SubscriptionEnd(SubscriptionEndReason Reason, Exception? Error)
{
    internal static SubscriptionEnd Of(Exception? error, bool isCancelled) => error switch
    {
        null => new(isCancelled ? SubscriptionEndReason.Cancelled : SubscriptionEndReason.Disposed, null),
        NodeExpelledException => new(SubscriptionEndReason.NodeExpelled, error),
        ContractMismatchException => new(SubscriptionEndReason.ContractMismatch, error),
        TopicAccessDeniedException => new(SubscriptionEndReason.AccessDenied, error),
        SlowReaderException => new(SubscriptionEndReason.ReaderTooSlow, error),
        SlowHandlerException => new(SubscriptionEndReason.HandlerTooSlow, error),
        ConsumerFailedException => new(SubscriptionEndReason.ConsumerFailed, error),
        _ => new(SubscriptionEndReason.NodeStopped, error),
    };
}
