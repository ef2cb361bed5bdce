using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Regions.Adoption;

// Finds the regions that nodes bring along unchanged from the earlier service. Such a region keeps its id, number and address: its members
// have nothing to settle, and its senders continue.
//
// Intuition: a view is a closed world, and may continue if none of its members can distinguish the services. Application: a forming region
// is adopted if all its members are back together, from one configuration of the earlier service, and each gets exactly its topics by the
// same view, which is the view that this service would make of it. A publisher into it was never a member before, or is back with them and
// continues. The members treat any other node as removed, with all that it sent. A node that has lost sight of the view since it sent into
// it would number its packets again from the start, under keys that it has used.
//
// What goes wrong: a node reports what is not so. All members must report the same, so it changes nothing for regions of which it is no
// member, except if it claims the id of one: then the region with more members has it, and of equals none. An id is always one of an
// earlier epoch, so none that this service draws is ever taken.
internal static class RegionAdoption
{
    /// <param name="forming">The regions of the service's first configuration.</param>
    /// <param name="configuration">That configuration.</param>
    /// <param name="repair">How members share the work of repair in the views of this service.</param>
    public static List<(Region Region, RegionView View)> Choose(List<Region> forming, long configuration, RepairRules repair)
    {
        var found = new List<(Region Region, RegionView View)>();
        foreach (var region in forming)
        {
            if (Held(region) is { } held && IsOfEarlierService(held, configuration))
            {
                var view = region.ViewAs(held, configuration, repair);
                if (ViewDigest.Of(view) == held.Digest)
                {
                    found.Add((region, view));
                }
            }
        }

        return [.. found.GroupBy(static one => one.View.RegionId).Select(Owner).OfType<(Region, RegionView)>()];
    }

    private static (Region Region, RegionView View)? Owner(IEnumerable<(Region Region, RegionView View)> claims)
    {
        var largest = claims.OrderByDescending(static claim => claim.View.Members.Length).Take(2).ToArray();
        return largest.Length == 1 || largest[0].View.Members.Length > largest[1].View.Members.Length ? largest[0] : null;
    }

    private static bool IsOfEarlierService(HeldView held, long configuration)
    {
        ulong epoch = (ulong)(configuration >> 32);
        return held.RegionId >> 32 is > 0 and var first && first < epoch && (ulong)(held.Configuration >> 32) < epoch;
    }

    // The view that all members report of exactly these topics; null: there is none.
    private static HeldView? Held(Region region)
    {
        var first = region.Arriving[0].Node;
        if (first.Held?.ViewOf(region.Topics[0].Id) is not { } held)
        {
            return null;
        }

        foreach (var place in region.Arriving)
        {
            if (place.Node.Origin != first.Origin || !HoldsAll(place.Node.Held, region, held))
            {
                return null;
            }
        }

        return Array.TrueForAll(region.Topics, topic => IsPublishedByFriends(topic, first.Origin)) ? held : null;
    }

    private static bool HoldsAll(AdoptableViews? node, Region region, HeldView held) =>
        node is not null && node.TopicsOf(held.RegionId) == region.Topics.Length
        && Array.TrueForAll(region.Topics, topic => node.ViewOf(topic.Id) == held);

    private static bool IsPublishedByFriends(MappedTopic topic, Origin origin)
    {
        foreach (var opener in topic.Openers)
        {
            if (opener.Publishes && opener.Node.HasReturned && (opener.Node.Origin != origin || !opener.WasRouted))
            {
                return false;
            }
        }

        return true;
    }
}
