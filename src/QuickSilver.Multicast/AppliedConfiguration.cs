using QuickSilver.Membership.Views;

namespace QuickSilver.Multicast;

// How far the configurations are applied and settled, and the current view of each region that this node knows. ConfigurationApplier
// changes it.
internal sealed class AppliedConfiguration
{
    /// <summary>The last configuration applied.</summary>
    public long Number { get; set; }

    /// <summary>All nodes have confirmed the configurations up to this one.</summary>
    public long Settled { get; set; }

    public Dictionary<ulong, RegionView> Regions { get; } = [];
}
