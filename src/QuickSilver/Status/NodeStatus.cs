namespace QuickSilver;

/// <summary>The state of a node.</summary>
public enum NodeState
{
    /// <summary>The node is looking for a membership service.</summary>
    Starting = 0,

    /// <summary>The node has joined. <see cref="NodeStatus.IsReady"/> shows whether the service is reachable now.</summary>
    Running = 1,

    /// <summary>
    /// The membership service removed this incarnation of the node, or the node left because the system refused required resources for too
    /// long. <see cref="NodeStatus.Reason"/> shows which. Start another node.
    /// </summary>
    Expelled = 2,

    /// <summary>The node was disposed.</summary>
    Stopped = 3,
}

/// <summary>The status of a node.</summary>
/// <param name="State">The state of the node.</param>
/// <param name="IsLive">
/// Whether the core thread makes progress. False after it was blocked for more than 3 s, until it continues, and false when the node is
/// disposed.
/// </param>
/// <param name="IsReady">Whether the node is live, has joined and is connected to the membership service.</param>
/// <param name="OpenTopics">
/// The number of topics that are open on the node, each counted once, however many endpoints it has. Requesters, responders and states use
/// topics as well, which are counted: one for each name, and the inbox of the node.
/// </param>
/// <param name="Reason">
/// Why the node is not ready, or which problem it has although it is ready, since when, whom it waits for, and what to do: the first of
/// <see cref="Reasons"/> in sentences. Null without a problem.
/// </param>
public sealed record NodeStatus(NodeState State, bool IsLive, bool IsReady, int OpenTopics, string? Reason)
{
    /// <summary>
    /// All reasons why the node is not ready, and all problems that it has although it is ready; first what keeps it from being ready, then
    /// by age. At most 40; empty without a problem.
    /// </summary>
    public IReadOnlyList<StatusReason> Reasons { get; init; } = [];

    /// <summary>The name of the node. See <see cref="QuickSilverOptions.Name"/>.</summary>
    public string Name { get; init; } = "";

    /// <summary>
    /// The topics that this node publishes at the rate of a slow reader, for longer than <see cref="QuickSilverOptions.StallWarning"/>.
    /// That is the policy <see cref="SlowReaderPolicy.Wait"/> at work, and no problem by itself. A topic whose reader takes nothing is
    /// among the reasons instead (<see cref="StatusReasonKind.ReaderElsewhereFull"/>). Measured every second; empty if there is none.
    /// </summary>
    public IReadOnlyList<HeldTopic> HeldTopics { get; init; } = [];

    /// <summary>"gso" if the kernel segments runs of datagrams, "single" otherwise, and before the node has opened its sockets.</summary>
    public string DatagramPath { get; init; } = "single";

    /// <summary>
    /// The number of live members of the cluster, this node included, after the last configuration that this node has applied; 0 before the
    /// first, which comes shortly after the node has joined.
    /// </summary>
    public int Members { get; init; }

    /// <summary>
    /// The address and the name of the node's network interface, and why it is this one, such as "10.0.0.5 (eth0): the only address of this
    /// machine in 10.0.0.0/8". Null for a node that is simulated.
    /// </summary>
    public string? Interface { get; init; }
}
