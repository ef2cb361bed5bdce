using System.Net;
using QuickSilver.Core.Sealing;

namespace QuickSilver.Membership.Views;

// The view of a region that a member holds from an earlier service, as it reports it to the next one. Group: null if the region has none.
// Set: the number of the region's set of topics there. Members and all else are in the digest.
internal sealed record HeldView(ulong RegionId, uint Number, long Configuration, IPEndPoint? Group, int Set, ViewDigest Digest)
{
    // The key of the view's packets. Null: they are not sealed. A service that takes over sends it to the nodes that publish into the view.
    public SecretKey? Key { get; init; }

    public static HeldView Of(RegionView view) =>
        new(view.RegionId, view.Number, view.Configuration, view.Group, view.Set, ViewDigest.Of(view)) { Key = view.Key };
}
