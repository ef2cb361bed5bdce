namespace QuickSilver;

/// <summary>
/// The options of a subscription of all topics whose names begin alike. It takes a copy of them, and of the options in them, when it is
/// opened, so a later change has no effect.
/// </summary>
/// <typeparam name="T">The payload type of the topics.</typeparam>
public sealed class PrefixOptions<T>
{
    /// <summary>
    /// The maximum number of topics that are subscribed at the same time: 1 to 8,192; default 1,024. What is beyond it is counted in <see
    /// cref="ITopicPrefix.Beyond"/> and logged.
    /// </summary>
    public int MaxTopics { get; set; } = 1_024;

    /// <summary>
    /// For how long a topic stays subscribed when its last publisher has closed it or has left: 0 to 1.00:00:00; default 00:00:10. What a
    /// publisher that failed had sent, and the others have, still comes in this time, and a publisher that comes back finds its subscriber.
    /// During this time, no node can open the topic with another type.
    /// </summary>
    public TimeSpan KeepOpen { get; set; } = TimeSpan.FromSeconds(10);

    /// <summary>
    /// The options of the endpoint of each topic. Topics with another <see cref="TopicOptions.Guarantee"/> are refused. Default: those of
    /// topics, with a reader's buffer for each.
    /// </summary>
    public TopicOptions Topic { get; set; } = new();

    /// <summary>The options of the consumer of each topic. Its callbacks may be called for several topics at the same time.</summary>
    public ConsumerOptions<T> Consumer { get; set; } = new();

    /// <summary>
    /// Called when a topic comes, is refused, ends or goes, in this order. It is called on the node's core thread, so it must not block.
    /// Its exceptions are logged. Default: null.
    /// </summary>
    public Action<PrefixTopic>? OnTopic { get; set; }

    /// <summary>A copy that shares no options with this.</summary>
    internal PrefixOptions<T> Copy()
    {
        var copy = (PrefixOptions<T>)MemberwiseClone();
        copy.Topic = Topic?.Copy()!;
        copy.Consumer = Consumer?.Copy()!;
        return copy;
    }
}
