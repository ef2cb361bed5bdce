namespace QuickSilver;

/// <summary>
/// The exception that is thrown when a handler of <see cref="ITopicSubscriber{T}.SubscribeInline"/> blocked the node's core thread for
/// longer than <see cref="QuickSilverOptions.HandlerLimit"/>. Its endpoint has left the topic, when the handler returned.
/// </summary>
public sealed class SlowHandlerException : QuickSilverException
{
    internal SlowHandlerException(string topic, Type payload, string method, TimeSpan limit)
        : base($"The handler {method} of the topic \"{topic}\" ({payload}) blocked the node's core thread for {limit:c} "
            + $"({nameof(QuickSilverOptions.HandlerLimit)}), and its endpoint was closed. Use {nameof(ITopicSubscriber<>.Subscribe)}, "
            + "which may wait, or move the work to another thread.")
    {
    }
}
