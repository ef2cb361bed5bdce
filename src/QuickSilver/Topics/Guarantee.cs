namespace QuickSilver;

/// <summary>What a topic promises of every message.</summary>
public enum Guarantee
{
    /// <summary>
    /// Every message accepted from a sender that stays up is delivered exactly once, in the sender's order, to every
    /// subscriber of the view it was sent in that stays up. Losses are repaired; what cannot be had is told as a gap.
    /// </summary>
    Reliable = 0,

    /// <summary>Delivered at most once and in the sender's order; losses are not repaired but told as gaps.</summary>
    BestEffort = 1,
}

/// <summary>What an endpoint does with its topic.</summary>
[Flags]
public enum TopicAccess
{
    /// <summary>Publishes only: nothing is delivered to this endpoint.</summary>
    Publish = 1,

    /// <summary>Subscribes only: publishing throws <see cref="InvalidOperationException"/>.</summary>
    Subscribe = 2,

    /// <summary>Both; an endpoint that does both receives its own messages too.</summary>
    PublishAndSubscribe = Publish | Subscribe,
}

/// <summary>What happens when messages arrive faster than <see cref="ITopic{T}.ReadAllAsync"/> is read.</summary>
public enum SlowReaderPolicy
{
    /// <summary>
    /// Nothing is lost: the senders of this topic are slowed down to this reader's speed. Their other topics are not.
    /// </summary>
    Wait = 0,

    /// <summary>The oldest unread message makes room; the reader is told by a gap notice and a counter.</summary>
    DropOldest = 1,

    /// <summary>The newest message is not taken; the reader is told by a gap notice and a counter.</summary>
    DropNewest = 2,
}

/// <summary>When a publish call completes.</summary>
public enum PublishCompletion
{
    /// <summary>When the message was accepted by the node: it will be sent, repaired and acknowledged by itself.</summary>
    Accepted = 0,

    /// <summary>When every subscriber of the view it was sent in holds it, or has left that view.</summary>
    Stable = 1,
}
