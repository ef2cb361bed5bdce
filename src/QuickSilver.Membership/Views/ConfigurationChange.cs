using System.Collections.Immutable;
using System.Net;
using QuickSilver.Core.Sealing;
using QuickSilver.Membership.Signs;

namespace QuickSilver.Membership.Views;

// One step of the world as the service numbers it, applied by a node as a whole: a sender moves all its topics from the
// old regions to the new ones at once, which is what lets a node change region without missing or repeating a message.
// Numbers only grow; the upper 32 bits are the service's epoch, which a restarted service sets above all it is told of.
internal sealed record ConfigurationChange
{
    public required long Number { get; init; }
    // The life of the service that made it.
    public ulong Service { get; init; }
    // A snapshot replaces all that was known: nodes, regions and topics not in it are gone.
    public required bool IsSnapshot { get; init; }
    public ImmutableArray<NodeInfo> Joined { get; init; } = [];
    public ImmutableArray<NodeKey> Removed { get; init; } = [];
    // New views of regions that this node is in, was in, or sends to.
    public ImmutableArray<RegionView> Regions { get; init; } = [];
    // New views of topics that this node has open.
    public ImmutableArray<TopicView> Topics { get; init; } = [];
    // Regions of which this node is told no more, after what is said of them here.
    public ImmutableArray<ulong> OutOfSight { get; init; } = [];
    // The key of packets that concern no view, when it is news. Null: it is as before, or packets are not sealed.
    public ClusterKey? ClusterKey { get; init; }

    /// <summary>Of the regions that a node knows, those that a snapshot does not name: they are over. In ascending order.</summary>
    public List<ulong> RegionsAbsent(IReadOnlyCollection<ulong> known)
    {
        if (!IsSnapshot)
        {
            return [];
        }

        var absent = new HashSet<ulong>(known);
        foreach (var view in Regions)
        {
            absent.Remove(view.RegionId);
        }

        return [.. absent.Order()];
    }
}

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
    void OnSignsWanted(int rows, Action<NodeSigns> completed)
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
