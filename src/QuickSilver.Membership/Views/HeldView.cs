using System.Net;

namespace QuickSilver.Membership.Views;

// The view of a region that a member holds from an earlier service, as it reports it to the next one. Group: null if the region has none.
// Set: the number of the region's set of topics there. Members and all else are in the digest.
internal sealed record HeldView(ulong RegionId, uint Number, long Configuration, IPEndPoint? Group, int Set, ViewDigest Digest)
{
    public static HeldView Of(RegionView view) =>
        new(view.RegionId, view.Number, view.Configuration, view.Group, view.Set, ViewDigest.Of(view));
}
