namespace QuickSilver;

/// <summary>No membership service was found or could be hosted in time.</summary>
public sealed class MembershipUnreachableException(string message, Exception? inner = null) : TimeoutException(message, inner);

/// <summary>The membership service removed this life of the node, for instance after a pause longer than its heartbeats allow; or the
/// node left by itself, as its system refused what it needs for too long. What was not yet stable may be lost to others; start a new
/// node.</summary>
public sealed class NodeExpelledException : InvalidOperationException
{
    /// <summary>The membership service removed the node.</summary>
    /// <param name="reason">Why, as the end of a sentence.</param>
    public NodeExpelledException(string reason)
        : this("The membership service removed this node", reason)
    {
    }

    private NodeExpelledException(string what, string why)
        : base($"{what}: {why}. Start a new node; it joins as a new incarnation.")
    {
    }

    internal static NodeExpelledException ByItself(string reason) =>
        new("This node has left the cluster", reason);
}
