using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Tests.Infrastructure;

// What must be true of views, worked out from nothing but who subscribes to what.
internal static class MembershipOracle
{
    /// <summary>Each topic's regions hold exactly its subscribers, each once; who subscribes to the same shares a region.</summary>
    public static void CheckTopic(TopicView view, Func<ulong, RegionView> region, IEnumerable<NodeKey> subscribers)
    {
        var members = view.Regions.SelectMany(id => region(id).Members).ToList();
        Assert.Equal(members.Count, members.Distinct().Count());
        Assert.Equal(subscribers.Order(), members.Order());
        Assert.Equal(members.Count, view.Subscribers);
        Assert.Equal(view.Regions.Order(), view.Regions);
    }
}
