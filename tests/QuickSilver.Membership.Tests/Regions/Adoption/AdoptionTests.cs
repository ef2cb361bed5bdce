using System.Net;
using FsCheck;
using FsCheck.Fluent;
using QuickSilver.Membership.Contracts;
using QuickSilver.Membership.Regions;
using QuickSilver.Membership.Regions.Addresses;
using QuickSilver.Membership.Regions.Adoption;
using QuickSilver.Membership.Regions.Sets;
using QuickSilver.Membership.Tests.Infrastructure;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Tests.Regions.Adoption;

// F4, F22; I7, I9: a service that takes over continues with the views that its nodes hold, where nothing has changed.
public sealed class AdoptionTests
{
    private static readonly Origin Before = new(1, 100);

    private readonly FakeCluster _cluster = new();

    [Fact]
    public void Every_region_continues_with_its_view_where_nothing_has_changed()
    {
        var nodes = _cluster.AddNodes(4);
        Array.ForEach(nodes[..3], static node => node.Subscribe("A", "B"));
        nodes[2].Subscribe("C");
        nodes[3].Open("A", TopicRole.Publish);
        _cluster.Run(1);
        var before = Views(nodes);
        ChangeService();
        Assert.Equal(2, _cluster.Counters.RegionsAdopted);
        Assert.Equal(before, Views(nodes));
        Assert.All(nodes, static node => Assert.Equal(node.Changes[^1].Number, node.Settled));

        // And again, with what the service before did not make itself.
        ChangeService();
        Assert.Equal(2, _cluster.Counters.RegionsAdopted);
        Assert.Equal(before, Views(nodes));
    }

    [Fact]
    public void A_pinned_topics_members_keep_their_age()
    {
        var nodes = _cluster.AddNodes(3);
        foreach (var node in nodes)
        {
            node.Open("P", contract: Requests.Bytes with { IsPinned = true });
            _cluster.Run(1);
        }

        var before = Views(nodes);
        Assert.Equal(3, Assert.Single(nodes[0].Regions.Values).Since.Distinct().Count());
        ChangeService();
        Assert.Equal(before, Views(nodes));
    }

    [Fact]
    public void The_view_after_an_adopted_one_is_of_a_new_region_with_the_same_group()
    {
        var nodes = _cluster.AddNodes(3);
        Array.ForEach(nodes[..2], static node => node.Subscribe("A"));
        _cluster.Run(1);
        ChangeService();
        var adopted = Assert.Single(nodes[0].Regions.Values);
        nodes[2].Subscribe("A");
        _cluster.Run(1);
        var next = Assert.Single(nodes[0].Regions.Values);
        Assert.NotEqual(adopted.RegionId, next.RegionId);
        Assert.Equal((1u, adopted.Group), (next.Number, next.Group));
        Assert.Equal([[1, 2, 3]], nodes[2].MembersOf("A"));
        Assert.Equal(nodes[0].Changes[^1].Number >> 32, (long)(next.RegionId >> 32));
    }

    [Fact]
    public void A_member_that_does_not_return_costs_its_own_regions_a_view_and_no_other()
    {
        var nodes = _cluster.AddNodes(4);
        Array.ForEach(nodes[..3], static node => node.Subscribe("A"));
        nodes[3].Subscribe("B");
        _cluster.Run(1);
        ulong lost = Region(nodes[0], "A");
        ulong other = Region(nodes[3], "B");
        _cluster.ServiceEnvironment.Crash();
        nodes[1].Environment.Crash();
        _cluster.StartService();
        _cluster.Run(4);
        Assert.Equal([[1, 3]], nodes[0].MembersOf("A"));
        Assert.NotEqual(lost, Region(nodes[0], "A"));
        Assert.Equal(other, Region(nodes[3], "B"));
    }

    [Fact]
    public void A_node_that_joins_while_nodes_are_gathered_costs_only_the_regions_that_it_enters_a_view()
    {
        var nodes = _cluster.AddNodes(3);
        Array.ForEach(nodes[..2], static node => node.Subscribe("A"));
        nodes[2].Subscribe("B");
        _cluster.Run(1);
        ulong entered = Region(nodes[0], "A");
        ulong other = Region(nodes[2], "B");
        _cluster.ServiceEnvironment.Crash();
        var newcomer = _cluster.AddNode(9);
        newcomer.Subscribe("A");
        newcomer.Open("B", TopicRole.Publish);
        _cluster.StartService();
        _cluster.Run(4);
        Assert.Equal([[1, 2, 9]], nodes[0].MembersOf("A"));
        Assert.NotEqual(entered, Region(nodes[0], "A"));
        // It gets the region into which it publishes, unchanged.
        Assert.Equal(other, Region(nodes[2], "B"));
        Assert.Equal(other, Region(newcomer, "B"));
    }

    [Fact]
    public void A_topic_that_was_opened_again_meanwhile_gets_a_new_view_although_the_members_are_the_same()
    {
        var nodes = _cluster.AddNodes(2);
        Array.ForEach(nodes, static node => node.Subscribe("A"));
        _cluster.Run(1);
        ulong before = Region(nodes[0], "A");
        _cluster.ServiceEnvironment.Crash();
        _cluster.Run(1);
        nodes[0].Close("A");
        nodes[0].Subscribe("A");
        _cluster.StartService();
        _cluster.Run(4);
        Assert.Equal([[1, 2]], nodes[0].MembersOf("A"));
        Assert.NotEqual(before, Region(nodes[0], "A"));
    }

    [Fact]
    public void A_node_that_had_another_configuration_last_is_no_part_of_a_view_that_continues()
    {
        var (map, regions) = NewService();
        Add(map, 1, Before, (7, regions[7]), (8, regions[7]));
        Add(map, 2, Before with { Configuration = 99 }, (7, regions[7]), (8, regions[7]));
        map.Apply(1L << 40);
        Assert.NotEqual(regions[7].RegionId, Assert.Single(map.Topics[7].Regions.All).Id);
    }

    [Fact]
    public void Adopted_regions_are_those_of_before_and_histories_continue_from_them()
    {
        long adopted = 0, several = 0;
        foreach (var rules in (TopicSetRules?[])[null, RegionMapTests.Eager])
        {
            Prop.ForAll(MapHistory.All, steps =>
            {
                var world = new MapHistory(TopicSetKey.OfTopic, rules);
                for (int i = 0; i < steps.Length; i++)
                {
                    world.Do(steps[i]);
                    if (i % 20 == 19)
                    {
                        world.MakeConfiguration();
                        var before = Describe(world.Map);
                        world.ChangeService((uint)i);
                        Assert.Equal(before, Describe(world.Map));
                        adopted += world.Map.Adopted;
                        several += world.Map.Regions.Values.Select(static region => region.Set).Distinct().Count() > 1 ? 1 : 0;
                    }
                }
            }).Check(Config.QuickThrowOnFailure.WithMaxTest(200).WithEndSize(150));
        }

        Assert.True(adopted > 1000 && several > 100, $"{adopted} regions were adopted, of several sets {several} times");
    }

    [Fact]
    public void A_history_continues_after_a_change_of_service_in_the_middle_of_changes()
    {
        Prop.ForAll(MapHistory.All, steps =>
        {
            var world = new MapHistory(TopicSetKey.OfTopic, RegionMapTests.Eager);
            for (int i = 0; i < steps.Length; i++)
            {
                world.Do(steps[i]);
                if (i % 13 == 12)
                {
                    world.ChangeService((uint)i);
                }
            }

            world.MakeConfiguration();
        }).Check(Config.QuickThrowOnFailure.WithMaxTest(300).WithEndSize(150));
    }

    [Theory]
    [InlineData("number")]
    [InlineData("group")]
    [InlineData("far group")]
    [InlineData("topics")]
    [InlineData("digest")]
    [InlineData("epoch")]
    [InlineData("configuration")]
    [InlineData("nothing")]
    public void A_lie_of_one_member_gives_its_region_a_new_view_at_most(string about)
    {
        var (map, regions) = NewService();
        var honest = regions[7];
        var lie = about switch
        {
            "number" => honest with { Number = 9 },
            "group" => honest with { Group = new IPEndPoint(IPAddress.Parse("239.192.1.1"), 12_000) },
            "far group" => honest with { Group = new IPEndPoint(IPAddress.Parse("224.0.0.1"), 12_000) },
            "digest" => honest with { Members = [Node(1), Node(2), Node(5)] },
            "epoch" => honest with { RegionId = honest.RegionId | (1UL << 60) },
            "configuration" => honest with { Configuration = 90 },
            _ => honest,
        };
        Add(map, 1, (7, honest), (8, honest));
        Add(map, 2, about == "nothing" ? [] : about == "topics" ? [(7, lie)] : [(7, lie), (8, lie)]);
        map.SetRole(Node(2), 7, TopicRole.Subscribe);
        map.SetRole(Node(2), 8, TopicRole.Subscribe);
        Add(map, 3, (9, regions[9]));
        map.Apply(1L << 40);
        Assert.NotEqual(honest.RegionId, Assert.Single(map.Topics[7].Regions.All).Id);
        Assert.Equal(regions[9], Assert.Single(map.Topics[9].Regions.All).View, (one, other) => one!.HasContentOf(other!));
    }

    [Fact]
    public void A_node_that_claims_the_region_of_others_does_not_get_it_and_they_do()
    {
        var (map, regions) = NewService();
        Add(map, 1, (7, regions[7]), (8, regions[7]));
        Add(map, 2, (7, regions[7]), (8, regions[7]));
        Add(map, 4, (10, regions[7] with { Members = [Node(4)] }));
        map.Apply(1L << 40);
        Assert.Equal(regions[7].RegionId, Assert.Single(map.Topics[7].Regions.All).Id);
        Assert.NotEqual(regions[7].RegionId, Assert.Single(map.Topics[10].Regions.All).Id);
    }

    [Fact]
    public void A_view_does_not_continue_where_a_publisher_comes_from_elsewhere_and_ends_where_one_comes_back_later()
    {
        foreach (var origin in (Origin[])[Before with { Configuration = 99 }, new Origin(2, 100)])
        {
            var (map, regions) = NewService();
            Add(map, 3, (9, regions[9]));
            map.AddNode(Node(6), hasReturned: true, origin);
            map.SetRole(Node(6), 9, TopicRole.Publish);
            map.Apply(1L << 40);
            Assert.NotEqual(regions[9].RegionId, Assert.Single(map.Topics[9].Regions.All).Id);
        }

        var (later, held) = NewService();
        Add(later, 3, (9, held[9]));
        later.AddNode(Node(6), hasReturned: true, Before);
        later.Apply(1L << 40);
        Assert.Equal(held[9].RegionId, Assert.Single(later.Topics[9].Regions.All).Id);
        // It may have sent into the view, and lost sight of it.
        later.SetRole(Node(6), 9, TopicRole.Publish);
        later.Apply((1L << 40) + 1);
        Assert.NotEqual(held[9].RegionId, Assert.Single(later.Topics[9].Regions.All).Id);
        var end = Assert.Single(later.NewsOf(Node(3)).Regions, static view => view.Members.IsEmpty);
        Assert.Equal((held[9].RegionId, RegionView.EndOfAdopted), (end.RegionId, end.Number));
    }

    [Fact]
    public void A_member_that_begins_to_publish_continues_in_the_adopted_view()
    {
        var (map, regions) = NewService();
        Add(map, 3, (9, regions[9]));
        map.Apply(1L << 40);
        map.SetRole(Node(3), 9, TopicRole.Subscribe | TopicRole.Publish);
        map.Apply((1L << 40) + 1);
        Assert.Equal(regions[9].RegionId, Assert.Single(map.Topics[9].Regions.All).Id);
    }

    // It would number its packets from 1 again, and members would mistake them for those that they have.
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_view_continues_only_with_publishers_that_have_had_it_in_sight_all_the_time(bool wasRouted)
    {
        var (map, regions) = NewService();
        Add(map, 3, (9, regions[9]));
        map.AddNode(Node(6), hasReturned: true, Before);
        map.SetRole(Node(6), 9, TopicRole.Publish, wasRouted: wasRouted);
        map.Apply(1L << 40);
        Assert.Equal(wasRouted, regions[9].RegionId == Assert.Single(map.Topics[9].Regions.All).Id);
    }

    [Fact]
    public void A_publisher_that_opens_its_topic_again_without_a_service_gets_a_view_that_it_did_not_have()
    {
        var nodes = _cluster.AddNodes(3);
        nodes[0].Subscribe("A");
        nodes[1].Subscribe("B");
        nodes[2].Open("A", TopicRole.Publish);
        nodes[2].Open("B", TopicRole.Publish);
        _cluster.Run(1);
        ulong left = Region(nodes[0], "A");
        ulong kept = Region(nodes[1], "B");
        nodes[2].Close("A");
        _cluster.Run(1);
        ChangeService();
        Assert.Equal(left, Region(nodes[0], "A"));
        _cluster.ServiceEnvironment.Crash();
        _cluster.Run(1);
        nodes[2].Open("A", TopicRole.Publish);
        _cluster.StartService();
        _cluster.Run(4);
        Assert.NotEqual(left, Region(nodes[0], "A"));
        Assert.Equal(Region(nodes[0], "A"), Region(nodes[2], "A"));
        Assert.Equal(kept, Region(nodes[1], "B"));
    }

    [Theory]
    [InlineData(3, true)]
    [InlineData(4, false)]
    public void No_sealed_view_continues_while_a_node_is_missing_that_may_have_a_key(int known, bool goesOn)
    {
        var (map, regions) = NewService(isSealed: true);
        AddAll(map, regions, known);
        map.Apply(1L << 40);
        Assert.Equal(goesOn, regions[7].RegionId == Assert.Single(map.Topics[7].Regions.All).Id);
        Assert.Equal(goesOn, regions[9].RegionId == Assert.Single(map.Topics[9].Regions.All).Id);
    }

    // It may have published there under the service before, which no node knows any more.
    [Fact]
    public void A_sealed_view_that_was_adopted_ends_when_a_node_that_came_along_is_removed_even_if_it_is_no_member()
    {
        var (map, regions) = NewService(isSealed: true);
        map.AddNode(Node(5));
        AddAll(map, regions, known: 3);
        map.Apply(1L << 40);
        map.RemoveNode(Node(5));
        map.Apply((1L << 40) + 1);
        Assert.Equal(regions[7].RegionId, Assert.Single(map.Topics[7].Regions.All).Id);

        map.RemoveNode(Node(3));
        map.Apply((1L << 40) + 2);
        Assert.NotEqual(regions[7].RegionId, Assert.Single(map.Topics[7].Regions.All).Id);
    }

    [Fact]
    public void The_address_of_an_adopted_region_is_taken_and_rests_when_the_region_has_ended()
    {
        var plan = new AddressPlan("test", IPNetwork.Parse("239.192.0.0/14"));
        var map = new RegionMap(plan, 1);
        var view = View(0x50000_0001, 3);
        Add(map, 3, (9, view));
        map.Apply(1L << 40);
        Assert.Equal(1, plan.Claimed);
        map.AddNode(Node(4));
        map.SetRole(Node(4), 9, TopicRole.Subscribe);
        map.Apply((1L << 40) + 1);
        Assert.Equal(1, plan.Claimed);
        Assert.Equal(view.Group, Assert.Single(map.Topics[9].Regions.All).Group);
        map.RemoveNode(Node(3));
        map.RemoveNode(Node(4));
        map.Apply((1L << 40) + 2);
        plan.Settle((1L << 40) + 1, []);
        Assert.Equal(1, plan.Claimed);
        plan.Settle((1L << 40) + 2, []);
        Assert.Equal(0, plan.Claimed);
    }

    private static string[] Describe(RegionMap map) =>
    [
        .. map.Regions.Values.Select(region =>
            $"{region.View} {region.View!.Configuration}: {string.Join(' ', region.View.Members)} "
            + $"for {string.Join(' ', region.Topics.Select(topic => topic.Id))} in set {region.Set}"),
    ];

    private static string[] Views(FakeNode[] nodes) =>
    [
        .. nodes.SelectMany(node => node.Regions.Values.OrderBy(static view => view.RegionId).Select(view =>
            $"{node.Key}: {view} {view.Configuration} {string.Join(' ', view.Members)} {string.Join(' ', view.Since)}")),
    ];

    private static ulong Region(FakeNode node, string topic) => Assert.Single(node.View(topic).Regions);

    // Topics 7 and 8 of nodes 1 and 2, and topic 9 of node 3.
    private static (RegionMap Map, Dictionary<ulong, RegionView> Regions) NewService(bool isSealed = false)
    {
        var keys = isSealed ? RegionKeys.Draw(new FakeWorld().AddNode(1)) : null;
        var map = new RegionMap(new AddressPlan("test", IPNetwork.Parse("239.192.0.0/14")), 1) { Keys = keys };
        RegionView[] views = [View(0x50000_0001, 1, 2), View(0x50000_0002, 3)];
        views = [.. views.Select(view => view with { Key = keys?.OfView(view.RegionId, view.Number, view.Configuration) })];
        return (map, new Dictionary<ulong, RegionView> { [7] = views[0], [9] = views[1] });
    }

    private static void AddAll(RegionMap map, Dictionary<ulong, RegionView> regions, int known)
    {
        Add(map, 1, Before, known, (7, regions[7]), (8, regions[7]));
        Add(map, 2, Before, known, (7, regions[7]), (8, regions[7]));
        Add(map, 3, Before, known, (9, regions[9]));
    }

    private static RegionView View(ulong region, params ulong[] members) => new()
    {
        RegionId = region,
        Number = 4,
        Configuration = 80,
        Group = new IPEndPoint(new IPAddress([239, 192, 0, (byte)region]), 11_000),
        Members = [.. members.Select(Node)],
    };

    private static NodeKey Node(ulong id) => new(id, 1);

    private static void Add(RegionMap map, ulong node, params (ulong Topic, RegionView View)[] held) => Add(map, node, Before, held);

    private static void Add(RegionMap map, ulong node, Origin origin, params (ulong Topic, RegionView View)[] held) =>
        Add(map, node, origin, known: 0, held);

    private static void Add(RegionMap map, ulong node, Origin origin, int known, params (ulong Topic, RegionView View)[] held)
    {
        var told = held.Select(static one => (one.Topic, one.View.RegionId, (HeldView?)HeldView.Of(one.View)));
        map.AddNode(Node(node), hasReturned: true, origin, AdoptableViews.Of(told, origin.Configuration), known);
        Array.ForEach(held, one => map.SetRole(Node(node), one.Topic, TopicRole.Subscribe));
    }

    private void ChangeService()
    {
        _cluster.ServiceEnvironment.Crash();
        _cluster.Run(1);
        _cluster.StartService();
        _cluster.Run(3);
    }
}
