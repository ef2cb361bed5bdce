namespace QuickSilver;

/// <summary>The exception that is thrown when no membership service was found or could be hosted in time.</summary>
public sealed class MembershipUnreachableException(string message, Exception? inner = null) : TimeoutException(message, inner);

/// <summary>
/// The exception that is thrown when this incarnation of the node is no longer a member: the membership service removed it, for example
/// after a pause longer than its heartbeats allow, or the node left because the system refused required resources for too long. Messages
/// that were not stable may be lost. Start a new node.
/// </summary>
public sealed class NodeExpelledException : InvalidOperationException
{
    /// <summary>Initializes the exception for a node that the membership service removed.</summary>
    /// <param name="reason">The reason, as the end of a sentence.</param>
    public NodeExpelledException(string reason)
        : this("The membership service removed this node", reason)
    {
    }

    private NodeExpelledException(string what, string why)
        : base($"{what}: {why}. Start a new node, which joins as a new incarnation.")
    {
    }

    internal static NodeExpelledException ByItself(string reason) =>
        new("This node left the cluster", reason);
}
