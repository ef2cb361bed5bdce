using System.Collections.Immutable;
using QuickSilver.Core.Sealing;

namespace QuickSilver.Membership.Views;

// One numbered step of the cluster's state, which a node applies as a whole: a sender moves all its topics from the old regions to the new
// ones at once. So a node can change its region without missing or repeating a message. Numbers only grow. The upper 32 bits are the
// service's epoch, which a restarted service sets above all those that nodes report.
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
    // Regions whose views this node gets no more, after those that are in this change.
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
