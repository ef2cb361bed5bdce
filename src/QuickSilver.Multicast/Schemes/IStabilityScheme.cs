
namespace QuickSilver.Multicast.Schemes;

// A way in which the members of a view find out what all of them hold. A node has one scheme; all members of a cluster have the same.
internal interface IStabilityScheme
{
    /// <summary>The tracker of a view that is being opened. The region has no streams yet.</summary>
    IStabilityTracker ForRegion(SchemeContext context, ITrackedView view);
}
