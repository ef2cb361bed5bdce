using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Regions;

// The part of one node in a configuration: regions and topics. OutOfSight lists the regions whose views the node gets no more. It forgets
// them after it has applied what the configuration contains about them.
internal readonly record struct RegionNews(List<RegionView> Regions, List<TopicView> Topics, List<ulong> OutOfSight)
{
    public bool IsEmpty => Regions.Count == 0 && Topics.Count == 0 && OutOfSight.Count == 0;
}
