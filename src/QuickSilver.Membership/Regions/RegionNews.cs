using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Regions;

// What one configuration tells a node of regions and topics. OutOfSight names regions of which it was told and is told no more:
// after it has taken in what the configuration says of them it forgets them.
internal readonly record struct RegionNews(List<RegionView> Regions, List<TopicView> Topics, List<ulong> OutOfSight)
{
    public bool IsEmpty => Regions.Count == 0 && Topics.Count == 0 && OutOfSight.Count == 0;
}
