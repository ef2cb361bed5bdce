using System.Collections.Immutable;
using QuickSilver.Membership.Contracts;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Client;

// Refusal: null when granted; otherwise a sentence that names what differs or is wrong. DeniedTo: the identity of this node, if that lacks
// the right.
internal readonly record struct TopicOutcome(string? Refusal, string? DeniedTo = null);

// What multicast and the public face need of the membership client. Core thread only.
internal interface IMembership
{
    NodeKey Self { get; }

    bool IsReachable { get; }

    /// <summary>The live nodes, this one included, after the last configuration.</summary>
    NodeRoster Roster { get; }

    /// <summary>The names of the nodes. From any thread.</summary>
    INodeNames Names => NoNodeNames.Instance;

    /// <summary>
    /// Asks for a topic to be opened with this access (replacing the access asked for before). The callback comes once:
    /// refused, or granted, and then the topic's view follows (or came already) in a configuration. While the service is
    /// unreachable the request waits and is sent on reconnection.
    /// </summary>
    void Open(TopicRequest request, Action<TopicOutcome> completed);

    /// <summary>Gives up all access to a topic. The views that were left live on until settled.</summary>
    void Close(ulong topicId);

    /// <summary>
    /// Calls back once, after the first configuration that the service made when it knew all that this node has asked for until now was
    /// applied, with its number. While the service is unreachable there is none.
    /// </summary>
    void WhenApplied(Action<long> callback) => callback(0);

    /// <summary>The prefixes of topics that this node follows.</summary>
    TopicFollows Follows { get; }

    /// <summary>
    /// Confirms to the service that nothing this node sent in a view superseded at or before this number is unsettled, except in the views
    /// that are named: <see cref="OpenView.MostPerNode"/> at most. They hold until the next call.
    /// </summary>
    void Confirm(long configuration, ImmutableArray<OpenView> open);

    /// <summary>Reports a ring neighbour that does not answer; the service decides.</summary>
    void ReportSuspect(NodeKey node, string reason);

    /// <summary>
    /// This node cannot continue, for this reason. It leaves permanently, so that others need not wait for it. The observer is notified
    /// within the call.
    /// </summary>
    void GiveUp(string reason);

    /// <summary>
    /// Leaves permanently. The callback comes when the other members are notified, or when <see cref="LeaveLimit"/> is over. It comes at
    /// once if there is no service that could notify them.
    /// </summary>
    void Leave(Action completed);

    /// <summary>How long leaving may take: longer where another server may take over meanwhile.</summary>
    TimeSpan LeaveLimit => MembershipClientOptions.PlainLeaveTimeout;
}
