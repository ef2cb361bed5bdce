namespace QuickSilver;

/// <summary>What has changed in the status of a node: see <see cref="QuickSilverNode.StatusChanged"/>.</summary>
public enum NodeStatusChangeKind
{
    /// <summary>
    /// The node has not heard the membership service for longer than its heartbeat limit, as on the minority side of a divided network: the
    /// others may have continued without it.
    /// </summary>
    Degraded = 0,

    /// <summary>The service is back, and has this node as a member still.</summary>
    Recovered = 1,

    /// <summary>The node is no longer a member, whether or not it was degraded before. Nothing follows that.</summary>
    Expelled = 2,
}

/// <summary>The arguments of <see cref="QuickSilverNode.StatusChanged"/>.</summary>
/// <param name="kind">What has changed.</param>
/// <param name="previous">The status before the change.</param>
/// <param name="current">The status after the change.</param>
public sealed class NodeStatusChangedEventArgs(NodeStatusChangeKind kind, NodeStatus previous, NodeStatus current) : EventArgs
{
    /// <summary>What has changed, to branch on.</summary>
    public NodeStatusChangeKind Kind { get; } = kind;

    /// <summary>The status just before the change.</summary>
    public NodeStatus Previous { get; } = previous;

    /// <summary>
    /// The status just after the change. When it is degraded or expelled, the first of its <see cref="NodeStatus.Reasons"/> says why. The
    /// node may have changed since: <see cref="QuickSilverNode.Status"/> is the status when it is read.
    /// </summary>
    public NodeStatus Current { get; } = current;
}
