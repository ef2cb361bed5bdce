using System.Collections.Immutable;
using QuickSilver.Core.Sealing;

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
