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
    /// Every live node has confirmed <paramref name="configuration"/>: nothing sent in a view that it superseded is still
    /// wanted by anyone, so such views may be closed, but for those that are <paramref name="open"/> still.
    /// </summary>
    void OnSettled(long configuration, ImmutableArray<OpenView> open);

    /// <summary>The service removed this node (it was thought dead): it must start again as a new incarnation.</summary>
    void OnExpelled(string reason);

    /// <summary>This node has given up and leaves: what is above it must start again, as when it is expelled.</summary>
    void OnGaveUp(string reason);

    /// <summary>The service refuses a topic that was open, now that the node has registered anew: it is open no more.</summary>
    void OnTopicRefused(ulong topicId, string reason, string? deniedTo = null);

    /// <summary>
    /// The key of packets that concern no view, ahead of the configuration: who is not a member yet needs it for the echoes of an inquiry.
    /// </summary>
    /// <param name="key">The key.</param>
    /// <param name="isOfAnother">Whether it is of a service that has not taken this node in.</param>
    void OnClusterKey(ClusterKey key, bool isOfAnother)
    {
    }

    /// <summary>
    /// The service wants to know which of these answer this node's echoes: told once, within <paramref name="wait"/>. Who cannot send
    /// echoes says nothing.
    /// </summary>
    void OnInquiry(ImmutableArray<IPEndPoint> targets, TimeSpan wait, Action<EchoesAnswered> completed)
    {
    }

    /// <summary>
    /// Somebody watches the cluster: the vital signs of this node are wanted, with at most so many rows of regions and of topics. Who has
    /// none says nothing.
    /// </summary>
    void OnSnapshotWanted(int rows, Action<NodeSnapshot> completed)
    {
    }

    /// <summary>The connection to the service was lost (false) or made (true). Data flows on meanwhile.</summary>
    void OnServiceReachable(bool reachable);

    /// <summary>
    /// After a lost connection: no service was heard for so long that the last one may have removed this node. Told once, until it is
    /// reachable again.
    /// </summary>
    void OnServiceSilent(TimeSpan since)
    {
    }
}
