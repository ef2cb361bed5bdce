using QuickSilver.Membership.Views;

namespace QuickSilver.Multicast;

// How far the configurations are applied and settled, and the current view of each region that this node knows. ConfigurationApplier
// changes it.
internal sealed class AppliedConfiguration
{
    // Stands for the table while there are no regions. All nodes of a process share it, and none writes to it.
    private static readonly Dictionary<ulong, RegionView> NoRegions = [];

    /// <summary>The last configuration applied.</summary>
    public long Number { get; set; }

    /// <summary>All nodes have confirmed the configurations up to this one.</summary>
    public long Settled { get; set; }

    /// <summary>Change it by <see cref="Set"/>, or by removing.</summary>
    public Dictionary<ulong, RegionView> Regions { get; private set; } = NoRegions;

    public void Set(RegionView view)
    {
        Regions = ReferenceEquals(Regions, NoRegions) ? [] : Regions;
        Regions[view.RegionId] = view;
    }
}
