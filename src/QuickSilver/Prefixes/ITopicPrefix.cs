namespace QuickSilver;

/// <summary>
/// A subscription of all topics whose names begin alike: those that are published now, and those to come. Thread-safe.
/// </summary>
/// <remarks>
/// Disposing closes all its topics. Their buffered messages are handled first, as when an endpoint is disposed. It has ended, too, when its
/// node has stopped or was expelled.
/// </remarks>
public interface ITopicPrefix : ISubscription
{
    /// <summary>What the names of the topics begin with.</summary>
    string Prefix { get; }

    /// <summary>
    /// The topics and how each stands, in the order in which they came. A copy. A topic is among them while a node publishes it, and for
    /// <see cref="PrefixOptions{T}.KeepOpen"/> afterwards.
    /// </summary>
    IReadOnlyList<PrefixTopic> Topics { get; }

    /// <summary>
    /// The topics that are published and not subscribed, because there are more than <see cref="PrefixOptions{T}.MaxTopics"/>. When
    /// others have gone, they are subscribed.
    /// </summary>
    int Beyond { get; }
}

/// <summary>A topic of a prefix.</summary>
/// <param name="Name">The name of the topic.</param>
/// <param name="State">How it stands.</param>
/// <param name="Error">
/// Why it is refused or has ended: <see cref="ContractMismatchException"/> if its type or guarantee is another one. Otherwise null.
/// </param>
public readonly record struct PrefixTopic(string Name, PrefixTopicState State, Exception? Error);

/// <summary>How a topic of a prefix stands.</summary>
public enum PrefixTopicState
{
    /// <summary>It is being opened.</summary>
    Opening = 0,

    /// <summary>It is subscribed.</summary>
    Open = 1,

    /// <summary>
    /// It cannot be subscribed, most likely because its type or guarantee is another one. It is tried again when a publisher comes after
    /// all publishers have gone.
    /// </summary>
    Refused = 2,

    /// <summary>
    /// Its subscriber has ended: it was too slow, or the handler failed and the error policy stops it. As if it were refused, it is
    /// tried again.
    /// </summary>
    Ended = 3,

    /// <summary>No node publishes it any more, and it was closed.</summary>
    Closed = 4,
}
