using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Regions;

// What one configuration tells a node about regions and topics. OutOfSight lists the regions of which the node was told and will be told no
// more: it forgets them after it has applied what the configuration says about them.
internal readonly record struct RegionNews(List<RegionView> Regions, List<TopicView> Topics, List<ulong> OutOfSight)
{
    public bool IsEmpty => Regions.Count == 0 && Topics.Count == 0 && OutOfSight.Count == 0;
}
