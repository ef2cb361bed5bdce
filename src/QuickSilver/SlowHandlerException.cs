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
        Topic = topic;
        PayloadType = payload;
        Handler = method;
        Limit = limit;
    }

    /// <summary>The name of the topic.</summary>
    public string Topic { get; }

    /// <summary>The payload type of the endpoint.</summary>
    public Type PayloadType { get; }

    /// <summary>The method that blocked, such as "Board.Show".</summary>
    public string Handler { get; }

    /// <summary>How long it may block (<see cref="QuickSilverOptions.HandlerLimit"/>).</summary>
    public TimeSpan Limit { get; }
}
