namespace QuickSilver;

/// <summary>The delivery guarantee of a topic.</summary>
public enum Guarantee
{
    /// <summary>
    /// Every message accepted from a sender that stays up is delivered exactly once, in the sender's order, to every subscriber of the view
    /// it was sent in that stays up. Losses are repaired. A range that cannot be delivered is reported as a gap.
    /// </summary>
    Reliable = 0,

    /// <summary>Messages are delivered at most once and in the sender's order. Losses are not repaired but reported as gaps.</summary>
    BestEffort = 1,
}

/// <summary>Whether an endpoint publishes, subscribes or both.</summary>
[Flags]
public enum TopicAccess
{
    /// <summary>Publishes only. The endpoint receives nothing.</summary>
    Publish = 1,

    /// <summary>Subscribes only. Publishing throws <see cref="InvalidOperationException"/>.</summary>
    Subscribe = 2,

    /// <summary>Publishes and subscribes. The endpoint also receives its own messages.</summary>
    PublishAndSubscribe = Publish | Subscribe,
}

/// <summary>What happens when messages arrive faster than <see cref="ITopic{T}.ReadAllAsync"/> is read.</summary>
public enum SlowReaderPolicy
{
    /// <summary>Nothing is lost. The senders of this topic slow down to the speed of this reader, but only with this topic.</summary>
    Wait = 0,

    /// <summary>The oldest unread message is dropped, and reported in a gap notice and a counter.</summary>
    DropOldest = 1,

    /// <summary>The incoming message is dropped, and reported in a gap notice and a counter.</summary>
    DropNewest = 2,
}

/// <summary>When a publish call completes.</summary>
public enum PublishCompletion
{
    /// <summary>The node has accepted the message. It sends, repairs and acknowledges the message on its own.</summary>
    Accepted = 0,

    /// <summary>Every subscriber of the view in which the message was sent holds it, or has left that view.</summary>
    Stable = 1,
}
