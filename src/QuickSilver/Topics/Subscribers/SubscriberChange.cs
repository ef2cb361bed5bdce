namespace QuickSilver;

/// <summary>Why a node is a subscriber of a topic, or is not any more.</summary>
public enum SubscriberChangeReason
{
    /// <summary>It was a subscriber in the view that this node had when the enumeration began.</summary>
    Present = 0,

    /// <summary>It has opened the topic to subscribe.</summary>
    Subscribed = 1,

    /// <summary>It has closed its last endpoint that subscribes, and is still a member of the cluster.</summary>
    Unsubscribed = 2,

    /// <summary>It is not a member of the cluster any more: it stopped, failed, or was removed by the membership service.</summary>
    NodeLeft = 3,
}

/// <summary>A change of a topic's subscribers, by the views of the topic.</summary>
/// <param name="Node">The node. A node is one subscriber, whatever the number of its endpoints.</param>
/// <param name="IsJoined">True if the node is a subscriber now; false if it is not any more.</param>
/// <param name="Reason">Why.</param>
public readonly record struct SubscriberChange(NodeId Node, bool IsJoined, SubscriberChangeReason Reason)
{
    // For display, so it is no part of what is compared. Null in a change that an application made.
    internal string? NodeName { get; init; }

    /// <summary>Whether both are the same change of the same node.</summary>
    public bool Equals(SubscriberChange other) => Node == other.Node && IsJoined == other.IsJoined && Reason == other.Reason;

    /// <inheritdoc/>
    public override int GetHashCode() => HashCode.Combine(Node, IsJoined, Reason);

    /// <summary>The name and the id of the node, and the reason.</summary>
    public override string ToString() => $"{Node.InWords(NodeName)}: {Reason}";
}
