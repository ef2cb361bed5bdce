using QuickSilver.Membership.Protocol.Replies;
using QuickSilver.Membership.Snapshots;

namespace QuickSilver.Membership.Client.Watching;

// One answer to an observer.
internal sealed record ClusterSnapshot(ClusterSnapshotMessage Service, IReadOnlyList<NodeReport> Nodes);

// One node in it. Signs: null when the node has not reported them, or when its report is not valid; then Fault describes the problem.
internal sealed record NodeReport(MemberSnapshotMessage Node, NodeSnapshot? Signs, string? Fault);

// One answer to an observer that asked for topics: a page of them, or the versions of one.
internal sealed record ClusterTopics(TopicListMessage List, IReadOnlyList<ListedTopicMessage> Topics);

// Gets what an observer receives. On the core thread.
internal interface IClusterSnapshotReader
{
    void OnAnswer(ClusterSnapshot signs);

    /// <summary>Of an observer that asks for topics.</summary>
    void OnTopics(ClusterTopics topics)
    {
    }

    /// <summary>The observer is over. Called once.</summary>
    /// <param name="reason">What happened.</param>
    /// <param name="isRefusal">Whether the service was there and does not let this observer watch.</param>
    void OnEnded(string reason, bool isRefusal);
}
