namespace QuickSilver;

/// <summary>
/// The exception that is thrown when no membership service was found or could be hosted in time, or when the host name of the service has
/// no IPv4 address. The message says which.
/// </summary>
/// <param name="message">What failed, and why.</param>
/// <param name="innerException">The exception of the system, if any.</param>
public sealed class MembershipUnreachableException(string message, Exception? innerException = null)
    : QuickSilverException(message, innerException);

/// <summary>
/// The exception that is thrown when this incarnation of the node is no longer a member: the membership service removed it, for example
/// after a pause longer than its heartbeats allow, or the node left because the system refused required resources for too long. Messages
/// that were not stable may be lost. Start a new node.
/// </summary>
public sealed class NodeExpelledException : QuickSilverException
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
