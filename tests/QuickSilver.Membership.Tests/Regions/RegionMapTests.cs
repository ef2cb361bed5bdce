using System.Net;
using FsCheck;
using FsCheck.Fluent;
using QuickSilver.Membership.Contracts;
using QuickSilver.Membership.Regions;
using QuickSilver.Membership.Regions.Addresses;
using QuickSilver.Membership.Regions.Sets;
using QuickSilver.Membership.Tests.Infrastructure;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Tests.Regions;

// I7; what each node gets, step by step, must add up to the truth.
public sealed class RegionMapTests
{
    // Few nodes and topics, and yet several sets.
    internal static readonly TopicSetRules Eager = new()
    {
        MaxSets = 3,
        RegularOverlaps = 1,
        SmallRegion = 2,
        NodesToMembershipCost = 1000,
        FarSetCost = 0,
    };

    [Fact]
    public void Deltas_add_up_to_what_is_true_and_to_the_snapshot_after_every_configuration() =>
        Prop.ForAll(MapHistory.All, steps => Play(steps, TopicSetKey.OfTopic))
            .Check(Config.QuickThrowOnFailure.WithMaxTest(400).WithEndSize(150));

    [Fact]
    public void The_relation_of_a_node_to_another_follows_from_the_regions_of_the_other()
    {
        var map = new RegionMap(NewPlan(), 1);
        NodeKey[] nodes = [.. Enumerable.Range(1, 5).Select(static id => new NodeKey((ulong)id, 1))];
        Array.ForEach(nodes, node => map.AddNode(node));
        Array.ForEach(nodes[..3], node => map.SetRole(node, 7, TopicRole.Subscribe));
        map.SetRole(nodes[3], 7, TopicRole.Publish);
        Assert.Equal(RegionTie.None, map.TieOf(nodes[0], nodes[1], withLeft: true));
        map.Apply(1);
        Assert.Equal(RegionTie.Neighbour, map.TieOf(nodes[0], nodes[1], withLeft: false));
        Assert.Equal(RegionTie.Sender, map.TieOf(nodes[3], nodes[1], withLeft: true));
        Assert.Equal(RegionTie.None, map.TieOf(nodes[1], nodes[3], withLeft: true));
        Assert.Equal(RegionTie.None, map.TieOf(nodes[4], nodes[1], withLeft: true));

        map.SetRole(nodes[0], 7, TopicRole.None);
        map.Apply(2);
        Assert.Equal(RegionTie.None, map.TieOf(nodes[0], nodes[1], withLeft: false));
        Assert.Equal(RegionTie.Neighbour, map.TieOf(nodes[0], nodes[1], withLeft: true));
        Assert.Equal(RegionTie.None, map.TieOf(nodes[1], nodes[0], withLeft: false));
        Assert.Equal(RegionTie.Neighbour, map.TieOf(nodes[1], nodes[0], withLeft: true));
        map.ForgetLeft();
        Assert.Equal(RegionTie.None, map.TieOf(nodes[1], nodes[0], withLeft: true));
        map.RemoveNode(nodes[1]);
        Assert.Equal(RegionTie.None, map.TieOf(nodes[2], nodes[1], withLeft: true));
        Assert.Equal(RegionTie.None, map.TieOf(nodes[0], nodes[1], withLeft: true));
    }

    [Fact]
    public void Topics_in_several_sets_keep_each_subscriber_in_one_region_of_the_topics_set_whatever_changes()
    {
        long reassignments = 0, partitions = 0, mostSets = 0;
        Prop.ForAll(MapHistory.All, steps =>
        {
            var world = Play(steps, TopicSetKey.OfTopic, Eager);
            reassignments += world.Map.Reassignments;
            partitions += world.Map.Partitions;
            mostSets = Math.Max(mostSets, world.MostSets);
            Assert.True(
                world.Moves <= 10L * world.Changes,
                $"{world.Moves} times a node changed its region of a set, for {world.Changes} changes of a subscription");
        }).Check(Config.QuickThrowOnFailure.WithMaxTest(400).WithEndSize(150));

        // It is no proof where none of it happened.
        Assert.True(reassignments > 0);
        Assert.True(partitions > 0);
        Assert.Equal(Eager.MaxSets, mostSets);
    }

    [Fact]
    public void Sets_are_the_same_in_every_run_although_topics_and_nodes_come_in_another_order()
    {
        var (one, other) = (new RegionMap(NewPlan(), 1, Eager), new RegionMap(NewPlan(), 1, Eager));
        var subscriptions = new List<(NodeKey Node, ulong Topic)>();
        for (ulong node = 1; node <= 40; node++)
        {
            for (ulong topic = 1; topic <= 30; topic++)
            {
                if (TopicSetKey.OfTopic((node * 100) + topic).Low % 3 == 0)
                {
                    subscriptions.Add((new NodeKey(node, 1), topic));
                }
            }
        }

        Fill(one, subscriptions);
        subscriptions.Reverse();
        Fill(other, subscriptions);
        Assert.Equal(Describe(one), Describe(other));
        Assert.InRange(one.Topics.Values.Select(topic => topic.Set).Distinct().Count(), 2, Eager.MaxSets);
    }

    [Fact]
    public void A_small_region_outside_the_first_set_has_no_group_until_it_grows_and_keeps_it_until_half_are_gone()
    {
        var rules = new TopicSetRules { MaxSets = 2, RegularOverlaps = 1, SmallRegion = 4, NodesToMembershipCost = 1000 };
        var map = new RegionMap(NewPlan(), 1, rules);
        for (ulong id = 1; id <= 12; id++)
        {
            map.AddNode(new NodeKey(id, 1));
            if (id <= 9)
            {
                map.SetRole(new NodeKey(id, 1), 1, TopicRole.Subscribe);
            }
        }

        ulong[] members = [7, 8, 9];
        SetRoles(members, TopicRole.Subscribe);
        map.Apply(1);
        Assert.Equal((0, 1), (map.Topics[1].Set, map.Topics[2].Set));
        Assert.NotNull(RegionOf(1).Group);
        Assert.Null(RegionOf(2).Group);
        Assert.Null(RegionOf(2).View!.Group);

        SetRoles([10], TopicRole.Subscribe);
        map.Apply(2);
        var group = RegionOf(2).Group;
        Assert.NotNull(group);
        Assert.Equal(group, RegionOf(2).View!.Group);

        SetRoles([7, 8], TopicRole.None);
        map.Apply(3);
        Assert.Equal(group, RegionOf(2).Group);
        SetRoles([9], TopicRole.None);
        map.Apply(4);
        Assert.Null(RegionOf(2).Group);
        Assert.Null(RegionOf(2).View!.Group);

        Region RegionOf(ulong topic) => Assert.Single(map.Topics[topic].Regions.All);

        void SetRoles(ulong[] nodes, TopicRole role) => Array.ForEach(nodes, id => map.SetRole(new NodeKey(id, 1), 2, role));
    }

    [Fact]
    public void A_node_that_only_subscribes_gets_its_own_region_and_one_that_comes_to_publish_gets_all()
    {
        var map = new RegionMap(NewPlan(), 1);
        NodeKey[] nodes = [new(1, 1), new(2, 1), new(3, 1)];
        foreach (var node in nodes)
        {
            map.AddNode(node);
            map.SetRole(node, 7, TopicRole.Subscribe);
            map.SetRole(node, 7 + node.Id, TopicRole.Subscribe);
        }

        map.Apply(1);
        Assert.Equal(3, map.Topics[7].Regions.Count);
        Assert.All(nodes, node => Assert.Equal([node], Assert.Single(map.NewsOf(node).Regions).Members.AsEnumerable()));
        Assert.All(map.NewsOf(nodes[0]).Topics, view => Assert.False(view.Routed));

        map.SetRole(nodes[0], 7, TopicRole.Publish | TopicRole.Subscribe);
        Assert.True(map.HasChanges);
        map.Apply(2);
        Assert.True(Assert.Single(map.NewsOf(nodes[0]).Topics).Routed);
        Assert.Equal(2, map.NewsOf(nodes[0]).Regions.Count);
        Assert.Empty(map.NewsOf(nodes[1]).Topics);
        Assert.Equal(3, map.SnapshotOf(nodes[0]).Regions.Count);
        Assert.Single(map.SnapshotOf(nodes[1]).Regions);
    }

    // Thousands of topics lie in a region that a node enters or leaves for the sake of one.
    [Fact]
    public void A_topic_whose_regions_and_subscribers_stay_is_not_sent_again_when_a_region_changes()
    {
        var map = new RegionMap(NewPlan(), 1);
        for (ulong id = 1; id <= 4; id++)
        {
            map.AddNode(new NodeKey(id, 1));
            map.SetRole(new NodeKey(id, 1), 7, TopicRole.Subscribe | TopicRole.Publish);
            if (id > 2)
            {
                map.SetRole(new NodeKey(id, 1), 8, TopicRole.Subscribe);
            }
        }

        map.Apply(1);
        map.SetRole(new NodeKey(2, 1), 8, TopicRole.Subscribe);
        map.Apply(2);
        Assert.Equal(2, map.NewsOf(new NodeKey(1, 1)).Regions.Count);
        Assert.Empty(map.NewsOf(new NodeKey(1, 1)).Topics);
        Assert.Equal([8UL], map.NewsOf(new NodeKey(3, 1)).Topics.Select(view => view.TopicId));
    }

    [Fact]
    public void Sets_whose_keys_collide_are_distinguished_by_their_topics() =>
        Prop.ForAll(MapHistory.All, steps => Play(steps, topic => new TopicSetKey(0, topic & 1)))
            .Check(Config.QuickThrowOnFailure.WithMaxTest(200).WithEndSize(100));

    [Fact]
    public void A_histories_end_of_all_leaves_nothing_behind()
    {
        var plan = new AddressPlan("test", IPNetwork.Parse("239.192.0.0/14"));
        var map = new RegionMap(plan, 1);
        for (ulong id = 1; id <= 4; id++)
        {
            map.AddNode(new NodeKey(id, 1));
            map.SetRole(new NodeKey(id, 1), id % 3, TopicRole.Subscribe);
            map.SetRole(new NodeKey(id, 1), 7, TopicRole.Publish);
        }

        map.Apply(1);
        Assert.Equal(3, map.RegionCount);
        map.RemoveNode(new NodeKey(1, 1));
        map.RemoveNode(new NodeKey(2, 1));
        map.Apply(2);
        for (ulong id = 3; id <= 4; id++)
        {
            map.SetRole(new NodeKey(id, 1), id % 3, TopicRole.None);
            map.SetRole(new NodeKey(id, 1), 7, TopicRole.None);
        }

        map.Apply(3);
        Assert.Equal(0, map.RegionCount);
        Assert.Equal(0, map.TopicCount);
        Assert.Equal(3, plan.Claimed);
        plan.Settle(3, []);
        Assert.Equal(0, plan.Claimed);
    }

    // A view is a closed world: who sent in it before it went away would begin again at number 1.
    [Fact]
    public void A_publisher_that_returns_receives_no_earlier_view()
    {
        var (publisher, subscriber) = (new NodeKey(1, 1), new NodeKey(2, 1));
        var map = new RegionMap(new AddressPlan("test", IPNetwork.Parse("239.192.0.0/14")), 1);
        map.AddNode(publisher);
        map.AddNode(subscriber);
        foreach (ulong topic in (ulong[])[7, 8])
        {
            map.SetRole(publisher, topic, TopicRole.Publish);
            map.SetRole(subscriber, topic, TopicRole.Subscribe);
        }

        map.Apply(1);
        map.RemoveNode(publisher);
        map.Apply(2);
        map.AddNode(publisher, hasReturned: true);
        map.SetRole(publisher, 7, TopicRole.Publish);
        map.Apply(3);
        Assert.Equal(3, Assert.Single(map.NewsOf(publisher).Regions).Configuration);
        Assert.Equal(3, Assert.Single(map.NewsOf(subscriber).Regions).Configuration);
        map.SetRole(publisher, 8, TopicRole.Publish);
        map.Apply(4);
        Assert.Empty(map.NewsOf(subscriber).Regions);
    }

    [Fact]
    public void Opening_8192_topics_at_3_nodes_makes_one_region_and_few_allocations()
    {
        const int Topics = 8192;
        var map = new RegionMap(new AddressPlan("test", IPNetwork.Parse("239.192.0.0/14")), 1);
        NodeKey[] nodes = [new(1, 1), new(2, 1), new(3, 1)];
        Array.ForEach(nodes, node => map.AddNode(node));
        long before = GC.GetAllocatedBytesForCurrentThread();
        foreach (var node in nodes)
        {
            for (ulong topic = 1; topic <= Topics; topic++)
            {
                map.SetRole(node, topic, TopicRole.Publish | TopicRole.Subscribe);
            }
        }

        map.Apply(1);
        long perOpening = (GC.GetAllocatedBytesForCurrentThread() - before) / (Topics * nodes.Length);
        Assert.Equal(1, map.RegionCount);
        Assert.All(nodes, node => Assert.Equal(Topics, map.NewsOf(node).Topics.Count));
        Assert.All(nodes, node => Assert.Single(map.NewsOf(node).Regions));
        Assert.InRange(perOpening, 1, 1500);
    }

    private static AddressPlan NewPlan() => new("test", IPNetwork.Parse("239.192.0.0/14"));

    private static void Fill(RegionMap map, List<(NodeKey Node, ulong Topic)> subscriptions)
    {
        foreach (var node in subscriptions.Select(subscription => subscription.Node).Distinct())
        {
            map.AddNode(node);
        }

        subscriptions.ForEach(subscription => map.SetRole(subscription.Node, subscription.Topic, TopicRole.Subscribe));
        map.Apply(1);
    }

    private static IEnumerable<string> Describe(RegionMap map) => map.Regions.Values.Select(region =>
        $"{region.View}: {string.Join(' ', region.View!.Members)} for {string.Join(' ', region.Topics.Select(topic => topic.Id))}");

    private static MapHistory Play(MapHistory.Step[] steps, Func<ulong, TopicSetKey> keyOfTopic, TopicSetRules? rules = null)
    {
        var world = new MapHistory(keyOfTopic, rules);
        Array.ForEach(steps, world.Do);
        world.MakeConfiguration();
        return world;
    }
}
