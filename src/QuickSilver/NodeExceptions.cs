namespace QuickSilver;

/// <summary>No membership service was found or could be hosted in time.</summary>
public sealed class MembershipUnreachableException(string message, Exception? inner = null) : TimeoutException(message, inner);

/// <summary>The membership service removed this life of the node, for instance after a pause longer than its heartbeats allow.
/// What was not yet stable may be lost to others; start a new node.</summary>
public sealed class NodeExpelledException(string reason)
    : InvalidOperationException($"The membership service removed this node: {reason}. Start a new node; it joins as a new incarnation.");
