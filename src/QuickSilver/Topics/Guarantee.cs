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

/// <summary>
/// What happens when messages arrive faster than <see cref="ITopicSubscriber{T}.ReadAllAsync"/> is read.
/// </summary>
public enum SlowReaderPolicy
{
    /// <summary>Nothing is lost. The senders of this topic slow down to the speed of this reader, but only with this topic.</summary>
    Wait = 0,

    /// <summary>The oldest unread message is dropped, and reported in a gap notice and a counter.</summary>
    DropOldest = 1,

    /// <summary>The incoming message is dropped, and reported in a gap notice and a counter.</summary>
    DropWrite = 2,
}

/// <summary>When a publish call completes.</summary>
public enum PublishCompletion
{
    /// <summary>The node has accepted the message. It sends, repairs and acknowledges the message on its own.</summary>
    Accepted = 0,

    /// <summary>Every subscriber of the view in which the message was sent holds it, or has left that view.</summary>
    Stable = 1,
}
