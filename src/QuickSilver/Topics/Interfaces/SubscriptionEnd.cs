namespace QuickSilver;

/// <summary>Why a subscriber gets no more messages.</summary>
public enum SubscriptionEndReason
{
    /// <summary>
    /// The application disposed or stopped the endpoint, or its consumer. What was handled first, and what was not, depends on the verb:
    /// <see cref="SubscriptionEnd.Unhandled"/> counts the rest.
    /// </summary>
    Disposed = 0,

    /// <summary>
    /// The application cancelled the endpoint. Messages that were buffered were dropped, and reported:
    /// <see cref="SubscriptionEnd.Unhandled"/>.
    /// </summary>
    Cancelled = 1,

    /// <summary>The node stopped.</summary>
    NodeStopped = 2,

    /// <summary>The membership service removed the node, or the node left by itself: <see cref="NodeExpelledException"/>.</summary>
    NodeExpelled = 3,

    /// <summary>The topic is open elsewhere with a contract that does not match: <see cref="ContractMismatchException"/>.</summary>
    ContractMismatch = 4,

    /// <summary>
    /// The endpoint took nothing, and so blocked the senders, for longer than <see cref="TopicOptions.SlowReaderLimit"/>: <see
    /// cref="SlowReaderException"/>.
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
    /// <summary>
    /// The messages that had come for the subscriber and that it did not handle, because it ended before. Each was reported in a gap notice
    /// with the reason <see cref="GapReason.SubscriberEnded"/>, to those that get such notices. 0: the subscriber has handled all that
    /// came.
    /// </summary>
    public long Unhandled { get; init; }

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
