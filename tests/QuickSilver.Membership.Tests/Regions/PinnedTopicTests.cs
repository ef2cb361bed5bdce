using System.Net;
using FsCheck;
using FsCheck.Fluent;
using QuickSilver.Membership.Contracts;
using QuickSilver.Membership.Regions;
using QuickSilver.Membership.Regions.Addresses;
using QuickSilver.Membership.Regions.Sets;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Tests.Regions;

// A pinned topic owns its region, whatever else its members subscribe to, and the region's views show since when each is a member.
public sealed class PinnedTopicTests
{
    private const ulong Pinned = 100;

    [Fact]
    public void Its_region_has_exactly_its_subscribers_and_no_other_topic()
    {
        var map = Map(nodes: 6);
        for (ulong id = 1; id <= 6; id++)
        {
            map.SetRole(Node(id), 1, TopicRole.Subscribe);
        }

        Subscribe(map, 1, 2, 3);
        map.Apply(1);
        var region = RegionOf(map);
        Assert.Equal([Node(1), Node(2), Node(3)], region.View!.Members.ToArray());
        Assert.Equal([1L, 1L, 1L], region.View.Since.ToArray());
        Assert.Empty(Assert.Single(map.Topics[1].Regions.All).View!.Since);
    }

    [Fact]
    public void A_member_keeps_its_age_while_others_come_and_go_and_begins_again_when_it_comes_back()
    {
        var map = Map(nodes: 3);
        Subscribe(map, 2);
        map.Apply(1);
        Subscribe(map, 1);
        map.Apply(2);
        Subscribe(map, 3);
        map.Apply(3);
        Assert.Equal([2L, 1L, 3L], RegionOf(map).View!.Since.ToArray());

        map.SetRole(Node(2), Pinned, TopicRole.None, isPinned: true);
        map.Apply(4);
        Assert.Equal([2L, 3L], RegionOf(map).View!.Since.ToArray());
        Subscribe(map, 2);
        map.Apply(5);
        Assert.Equal([2L, 5L, 3L], RegionOf(map).View!.Since.ToArray());

        // Closed and opened again within one configuration.
        map.SetRole(Node(1), Pinned, TopicRole.None, isPinned: true);
        Subscribe(map, 1);
        map.Apply(6);
        Assert.Equal([6L, 5L, 3L], RegionOf(map).View!.Since.ToArray());
    }

    [Fact]
    public void A_service_that_is_new_takes_over_the_ages_that_members_report()
    {
        var map = Map(nodes: 2);
        map.SetRole(Node(1), Pinned, TopicRole.Subscribe, isPinned: true, memberSince: 7);
        map.SetRole(Node(2), Pinned, TopicRole.Subscribe, isPinned: true, memberSince: 3);
        map.Apply(1L << 32);
        Assert.Equal([7L, 3L], RegionOf(map).View!.Since.ToArray());
    }

    // Its members were notified that it left, and are notified that it joins: the oldest of them stays the oldest.
    [Fact]
    public void A_node_that_was_removed_and_comes_back_is_the_youngest_whatever_it_reports()
    {
        var map = Map(nodes: 3);
        Subscribe(map, 1);
        map.Apply(1);
        Subscribe(map, 2, 3);
        map.Apply(2);
        map.RemoveNode(Node(1));
        map.Apply(3);

        map.AddNode(Node(1), hasReturned: true);
        map.SetRole(Node(1), Pinned, TopicRole.Subscribe, isPinned: true, memberSince: 1);
        map.Apply(4);
        Assert.Equal([4L, 2L, 2L], RegionOf(map).View!.Since.ToArray());
    }

    [Fact]
    public void Topics_that_are_pinned_one_after_the_other_do_not_use_up_sets()
    {
        var map = Map(nodes: 2);
        for (int i = 1; i <= 50; i++)
        {
            Subscribe(map, 1, 2);
            map.Apply(2 * i);
            Assert.Equal(2, RegionOf(map).View!.Members.Length);
            map.SetRole(Node(1), Pinned, TopicRole.None, isPinned: true);
            map.SetRole(Node(2), Pinned, TopicRole.None, isPinned: true);
            map.Apply((2 * i) + 1);
            Assert.Equal(0, map.RegionCount);
        }

        Subscribe(map, 1, 2);
        map.Apply(1_000);
        Assert.InRange(map.Topics[Pinned].Set, 0, new TopicSetRules().MaxSets + 1);
    }

    [Fact]
    public void A_topic_can_become_pinned_where_one_node_alone_has_it_open()
    {
        var map = Map(nodes: 2);
        map.SetRole(Node(1), Pinned, TopicRole.Subscribe);
        map.SetRole(Node(1), 1, TopicRole.Subscribe);
        map.Apply(1);
        Assert.Same(map.Topics[1].Regions.All[0], map.Topics[Pinned].Regions.All[0]);

        map.SetRole(Node(1), Pinned, TopicRole.Subscribe, isPinned: true);
        map.Apply(2);
        Assert.NotSame(map.Topics[1].Regions.All[0], RegionOf(map));
        Assert.Equal([2L], RegionOf(map).View!.Since.ToArray());

        map.SetRole(Node(1), Pinned, TopicRole.Subscribe, isPinned: false);
        map.Apply(3);
        Assert.Same(map.Topics[1].Regions.All[0], map.Topics[Pinned].Regions.All[0]);
    }

    [Fact]
    public void Each_pinned_topic_has_one_region_with_its_subscribers_under_random_changes() =>
        Prop.ForAll<int>(PlayChanges).QuickCheckThrowOnFailure();

    private static void PlayChanges(int seed)
    {
        var chance = new Random(seed);
        var map = new RegionMap(new AddressPlan("test", IPNetwork.Parse("239.192.0.0/14")), 1, new TopicSetRules { RegularOverlaps = 2 });
        var wanted = new Dictionary<(ulong Node, ulong Topic), bool>();
        var nodes = new HashSet<ulong>();
        for (int step = 1; step <= 30; step++)
        {
            for (int change = chance.Next(1, 12); change > 0; change--)
            {
                ulong node = (ulong)chance.Next(1, 9), topic = (ulong)chance.Next(1, 9);
                if (nodes.Add(node))
                {
                    map.AddNode(Node(node), hasReturned: true);
                }

                bool subscribes = chance.Next(3) > 0;
                // Every other topic is pinned.
                map.SetRole(Node(node), topic, subscribes ? TopicRole.Subscribe : TopicRole.None, isPinned: topic % 2 == 0);
                wanted[(node, topic)] = subscribes;
            }

            if (chance.Next(4) == 0 && !map.HasChanges && nodes.Count > 0)
            {
                ulong gone = nodes.Min();
                nodes.Remove(gone);
                map.RemoveNode(Node(gone));
                foreach (var key in wanted.Keys.Where(key => key.Node == gone).ToList())
                {
                    wanted.Remove(key);
                }
            }

            map.Apply(step);
            foreach (var topic in wanted.Where(entry => entry.Value).GroupBy(entry => entry.Key.Topic))
            {
                var subscribers = topic.Select(entry => Node(entry.Key.Node)).Order();
                var regions = map.Topics[topic.Key].Regions.All;
                Assert.Equal(subscribers, regions.SelectMany(region => region.View!.Members).Order());
                if (topic.Key % 2 == 0)
                {
                    var region = Assert.Single(regions);
                    Assert.Equal(topic.Key, Assert.Single(region.Topics).Id);
                    Assert.Equal(region.View!.Members.Length, region.View.Since.Length);
                    Assert.All(region.View.Since, since => Assert.InRange(since, 1, step));
                }
            }
        }
    }

    [Fact]
    public void Its_region_has_a_group_with_three_members_and_keeps_it_until_one_is_left()
    {
        var map = Map(nodes: 3);
        Subscribe(map, 1, 2);
        map.Apply(1);
        Assert.Null(RegionOf(map).Group);

        Subscribe(map, 3);
        map.Apply(2);
        var group = RegionOf(map).Group;
        Assert.NotNull(group);

        map.SetRole(Node(1), Pinned, TopicRole.None, isPinned: true);
        map.Apply(3);
        Assert.Equal(group, RegionOf(map).View!.Group);

        map.SetRole(Node(2), Pinned, TopicRole.None, isPinned: true);
        map.Apply(4);
        Assert.Null(RegionOf(map).View!.Group);
    }

    [Fact]
    public void A_node_has_few_groups_of_small_regions_and_one_of_each_large_region()
    {
        const int Topics = 45;
        var map = Map(nodes: 5);
        for (ulong topic = 1; topic <= Topics; topic++)
        {
            // Two or three members, and five of the last topics. The first node is a member of all.
            ulong members = topic > Topics - 5 ? 5 : 2 + (topic % 2);
            for (ulong id = 1; id <= members; id++)
            {
                map.SetRole(Node(id), Pinned + topic, TopicRole.Subscribe, isPinned: true);
            }

            map.Apply((long)topic);
        }

        var regions = Enumerable.Range(1, Topics).Select(topic => Assert.Single(map.Topics[Pinned + (ulong)topic].Regions.All)).ToArray();
        Assert.Equal([(2, 0), (3, 16), (5, 5)], regions.GroupBy(static region => region.Members.Count, (members, same) =>
            (members, same.Count(static region => region.Group is not null))).Order());
    }

    [Fact]
    public void Endpoints_that_disagree_on_it_do_not_share_a_topic()
    {
        var shared = new ContractDescription { TypeName = "Tick", Kind = "bytes", Guarantee = "Reliable" };
        string? difference = ContractMatch.Difference("prices", shared, shared with { IsPinned = true });
        Assert.Equal(
            "Topic 'prices' shares regions with other topics; this endpoint asks for a topic that has a region of its own.", difference);
        Assert.Null(ContractMatch.Difference("prices", shared with { IsPinned = true }, shared with { IsPinned = true }));
    }

    private static RegionMap Map(int nodes)
    {
        var map = new RegionMap(new AddressPlan("test", IPNetwork.Parse("239.192.0.0/14")), 1);
        for (ulong id = 1; id <= (ulong)nodes; id++)
        {
            map.AddNode(Node(id));
        }

        return map;
    }

    private static NodeKey Node(ulong id) => new(id, 1);

    private static void Subscribe(RegionMap map, params ulong[] ids) =>
        Array.ForEach(ids, id => map.SetRole(Node(id), Pinned, TopicRole.Subscribe, isPinned: true));

    private static Region RegionOf(RegionMap map) => Assert.Single(map.Topics[Pinned].Regions.All);
}
