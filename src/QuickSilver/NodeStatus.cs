namespace QuickSilver;

/// <summary>Where a node is in its life.</summary>
public enum NodeState
{
    /// <summary>Looks for a membership service.</summary>
    Starting = 0,

    /// <summary>Has joined; whether the service is reachable now, <see cref="NodeStatus.IsReady"/> says.</summary>
    Running = 1,

    /// <summary>
    /// The membership service removed this life of the node, or the node left by itself, as its system refused what it needs for too
    /// long: <see cref="NodeStatus.Reason"/> says which. Start another.
    /// </summary>
    Expelled = 2,

    /// <summary>Disposed.</summary>
    Stopped = 3,
}

/// <summary>How a node is, in one look.</summary>
/// <param name="State">Where it is in its life.</param>
/// <param name="IsLive">
/// Its core thread turns: nothing blocks it. False once it has not turned for more than 3 s, until it turns again; false when disposed.
/// </param>
/// <param name="IsReady">It is live, has joined and is connected to the membership service.</param>
/// <param name="OpenTopics">How many topics it has open.</param>
/// <param name="Reason">Why it is not ready, or what ails it though it is, in a sentence; null when all is well.</param>
public sealed record NodeStatus(NodeState State, bool IsLive, bool IsReady, int OpenTopics, string? Reason);
