using System.Collections.Immutable;
using System.Net;
using QuickSilver.Core.Sealing;
using QuickSilver.Membership.Protocol.Requests;
using QuickSilver.Membership.Snapshots;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Client;

// Called on the core thread by the membership client.
internal interface IMembershipObserver
{
    void OnConfiguration(ConfigurationChange change);

    /// <summary>
    /// Every live node has confirmed <paramref name="configuration"/>: nothing sent in a view that it superseded is still needed. Such
    /// views may be closed, except those that are still <paramref name="open"/>.
    /// </summary>
    void OnSettled(long configuration, ImmutableArray<OpenView> open);

    /// <summary>The service considered this node dead and removed it. It must start again as a new incarnation.</summary>
    void OnExpelled(string reason);

    /// <summary>This node has given up and leaves. The layers above must start again, as when it is expelled.</summary>
    void OnGaveUp(string reason);

    /// <summary>The service refuses a topic that was open, now that the node has registered again. The topic is no longer open.</summary>
    void OnTopicRefused(ulong topicId, string reason, string? deniedTo = null);

    /// <summary>
    /// The key of packets that concern no view, ahead of the configuration. A node that is not a member yet needs it for the echoes of an
    /// inquiry.
    /// </summary>
    /// <param name="key">The key.</param>
    /// <param name="isOfAnother">Whether it is of a service that has not admitted this node.</param>
    void OnClusterKey(ClusterKey key, bool isOfAnother)
    {
    }

    /// <summary>
    /// The service asks which of these targets answer the echoes of this node. The callback is due once, within <paramref name="wait"/>. A
    /// node that cannot send echoes does not call it.
    /// </summary>
    void OnInquiry(ImmutableArray<IPEndPoint> targets, TimeSpan wait, Action<EchoesAnswered> completed)
    {
    }

    /// <summary>
    /// An observer watches the cluster and needs a snapshot of this node, with at most this many rows of regions and of topics. A node
    /// without one does not call back.
    /// </summary>
    void OnSnapshotWanted(int rows, Action<NodeSnapshot> completed)
    {
    }

    /// <summary>The connection to the service was lost (false) or made (true). Meanwhile, data continues to flow.</summary>
    void OnServiceReachable(bool reachable);

    /// <summary>
    /// After a lost connection: no service was heard for so long that the last one may have removed this node. Called once, until a service
    /// is reachable again.
    /// </summary>
    void OnServiceSilent(TimeSpan since)
    {
    }
}
