using System.Net;
using QuickSilver.Membership.Contracts;
using QuickSilver.Membership.Regions;
using QuickSilver.Membership.Regions.Addresses;
using QuickSilver.Membership.Regions.Sets;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Tests.Regions.Sets;

// The rules that experiments compare with: a region for each topic, one for all, and the papers' greedy partition.
public sealed class TopicSetPolicyTests
{
    [Fact]
    public void With_a_region_for_each_topic_every_topic_has_one_region_of_its_subscribers()
    {
        var map = New(TopicSetRules.RegionPerTopic, 6);
        Subscribe(map, 1, 1, 2, 3);
        Subscribe(map, 2, 1, 2, 3);
        Subscribe(map, 3, 3, 4);
        Subscribe(map, 4, 6);
        map.Apply(1);

        Assert.Equal(4, map.RegionCount);
        Assert.All(map.Topics.Values, topic => Assert.Single(topic.Regions.All));
        Assert.All(map.Regions.Values, region => Assert.NotNull(region.Group));
        Assert.Equal([1UL, 2UL, 3UL], map.Topics[2].Regions.All[0].Members.ConvertAll(member => member.Node.Key.Id));
    }

    [Fact]
    public void With_one_region_for_all_every_topic_has_the_region_of_all_subscribers()
    {
        var map = New(TopicSetRules.RegionForAll, 6);
        Subscribe(map, 1, 1, 2, 3);
        Subscribe(map, 2, 4);
        map.Apply(1);
        Assert.Same(RegionOf(map, 1), RegionOf(map, 2));
        Assert.Equal([1UL, 2UL, 3UL, 4UL], MembersOf(map, 1));

        // A new topic, a new subscriber, and a node that leaves all of its topics.
        Subscribe(map, 3, 1);
        Subscribe(map, 1, 5);
        map.SetRole(new NodeKey(2, 1), 1, TopicRole.None);
        map.Apply(2);
        Assert.All(map.Topics.Values, topic => Assert.Same(map.Regions.Values.Single(), topic.Regions.All.Single()));
        Assert.Equal([1UL, 3UL, 4UL, 5UL], MembersOf(map, 3));

        // A topic that no node wants any more, and a node that is gone.
        map.SetRole(new NodeKey(4, 1), 2, TopicRole.None);
        map.RemoveNode(new NodeKey(5, 1));
        map.Apply(3);
        Assert.Equal([1UL, 3UL], map.Topics.Keys.Order());
        Assert.Equal([1UL, 3UL], MembersOf(map, 1));
        Assert.Equal([1UL, 3UL], map.Regions.Values.Single().Topics.Select(topic => topic.Id));
    }

    [Fact]
    public void A_subscription_to_another_topic_of_the_region_for_all_makes_another_view_of_it()
    {
        var map = New(TopicSetRules.RegionForAll, 3);
        Subscribe(map, 1, 1, 2);
        Subscribe(map, 2, 2, 3);
        map.Apply(1);
        uint number = RegionOf(map, 1).Number;

        Subscribe(map, 1, 3);
        map.Apply(2);

        Assert.Equal(number + 1, RegionOf(map, 1).Number);
        Assert.Equal([1UL, 2UL, 3UL], MembersOf(map, 1));
    }

    [Fact]
    public void The_papers_rule_keeps_topics_together_that_split_regions_into_large_ones_only()
    {
        var map = New(TopicSetRules.PapersGreedy, 20);
        Subscribe(map, 1, Nodes(1, 20));
        Subscribe(map, 2, Nodes(1, 10));
        Subscribe(map, 3, Nodes(11, 20));
        map.Apply(1);

        Assert.Equal([0, 0, 0], map.Topics.Values.Select(topic => topic.Set));
        Assert.Equal(2, map.RegionCount);
    }

    [Fact]
    public void The_papers_rule_begins_another_set_with_a_topic_that_would_make_a_small_region()
    {
        var map = New(TopicSetRules.PapersGreedy, 20);
        Subscribe(map, 1, Nodes(1, 20));
        Subscribe(map, 2, Nodes(1, 17));
        Subscribe(map, 3, Nodes(1, 12));
        Subscribe(map, 4, 1, 2, 3);
        map.Apply(1);

        // 18 to 20 alone, and 13 to 17 beside 1 to 12.
        Assert.Equal((0, 1, 0, 2), (map.Topics[1].Set, map.Topics[2].Set, map.Topics[3].Set, map.Topics[4].Set));
    }

    private static Region RegionOf(RegionMap map, ulong topic) => map.Topics[topic].Regions.All.Single();

    private static IEnumerable<ulong> MembersOf(RegionMap map, ulong topic) =>
        RegionOf(map, topic).Members.Select(member => member.Node.Key.Id);

    private static int[] Nodes(int first, int last) => [.. Enumerable.Range(first, last - first + 1)];

    private static RegionMap New(TopicSetRules rules, int nodes)
    {
        var map = new RegionMap(new AddressPlan("test", IPNetwork.Parse("239.192.0.0/14")), 1, rules);
        foreach (int node in Nodes(1, nodes))
        {
            map.AddNode(new NodeKey((ulong)node, 1));
        }

        return map;
    }

    private static void Subscribe(RegionMap map, ulong topic, params int[] nodes)
    {
        foreach (int node in nodes)
        {
            map.SetRole(new NodeKey((ulong)node, 1), topic, TopicRole.Subscribe);
        }
    }
}
