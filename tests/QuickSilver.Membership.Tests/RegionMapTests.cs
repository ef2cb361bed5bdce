using System.Net;
using FsCheck;
using FsCheck.Fluent;
using QuickSilver.Membership.Client;
using QuickSilver.Membership.Regions;
using QuickSilver.Membership.Tests.Infrastructure;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Tests;

// I7; what each node is told, step by step, must add up to the truth.
public sealed class RegionMapTests
{
    private const int NodeCount = 6;
    private const int TopicCount = 5;

    // A step sets a node's role in a topic, removes or brings back a node, or makes a configuration.
    public sealed record Step(int Node, int Topic, int What);

    private static readonly Gen<Step> Steps =
        from node in Gen.Choose(0, NodeCount - 1)
        from topic in Gen.Choose(0, TopicCount - 1)
        from what in Gen.Choose(0, 11)
        select new Step(node, topic, what);

    private static readonly Arbitrary<Step[]> Histories = Steps.ListOf().Select(steps => steps.ToArray()).ToArbitrary();

    [Fact]
    public void Deltas_add_up_to_what_is_true_and_to_the_snapshot_after_every_configuration() =>
        Prop.ForAll(Histories, steps => Play(steps, TopicSetKey.OfTopic))
            .Check(Config.QuickThrowOnFailure.WithMaxTest(400).WithEndSize(150));

    [Fact]
    public void Sets_whose_keys_collide_are_told_apart_by_their_topics() =>
        Prop.ForAll(Histories, steps => Play(steps, topic => new TopicSetKey(0, topic & 1)))
            .Check(Config.QuickThrowOnFailure.WithMaxTest(200).WithEndSize(100));

    [Fact]
    public void A_histories_end_of_all_leaves_nothing_behind()
    {
        var plan = new AddressPlan("test", IPAddress.Parse("239.192.0.0"), 14);
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
        plan.Settle(3);
        Assert.Equal(0, plan.Claimed);
    }

    // A view is a closed world: who sent in it before it went away would begin again at number 1.
    [Fact]
    public void A_publisher_that_returns_is_told_no_view_from_before()
    {
        var (publisher, subscriber) = (new NodeKey(1, 1), new NodeKey(2, 1));
        var map = new RegionMap(new AddressPlan("test", IPAddress.Parse("239.192.0.0"), 14), 1);
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
        var map = new RegionMap(new AddressPlan("test", IPAddress.Parse("239.192.0.0"), 14), 1);
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

    private static void Play(Step[] steps, Func<ulong, TopicSetKey> keyOfTopic)
    {
        var world = new Bookkeeping(keyOfTopic);
        foreach (var step in steps)
        {
            world.Do(step);
        }

        world.MakeConfiguration();
    }

    // The truth beside the map, and what each node was told so far.
    private sealed class Bookkeeping(Func<ulong, TopicSetKey> keyOfTopic)
    {
        private readonly AddressPlan _plan = new("test", IPAddress.Parse("239.192.0.0"), 14);
        private readonly Dictionary<NodeKey, Told> _told = [];
        private readonly Dictionary<NodeKey, Dictionary<ulong, TopicRole>> _roles = [];
        private readonly Dictionary<ulong, RegionView> _live = [];
        private readonly Dictionary<ulong, uint> _numbers = [];
        private RegionMap? _map;
        private long _configuration = 1L << 32;

        private sealed class Told
        {
            public readonly Dictionary<ulong, RegionView> Regions = [];
            public readonly Dictionary<ulong, TopicView> Topics = [];

            // A node may forget what none of its topics lies in.
            public void ForgetUnseen()
            {
                var needed = Topics.Values.SelectMany(view => view.Regions).ToHashSet();
                foreach (ulong region in Regions.Keys.Where(region => !needed.Contains(region)).ToArray())
                {
                    Regions.Remove(region);
                }
            }
        }

        private RegionMap Map => _map ??= new RegionMap(_plan, 1, keyOfTopic);

        public void Do(Step step)
        {
            var node = new NodeKey((ulong)step.Node + 1, 1);
            ulong topic = (ulong)step.Topic + 1;
            if (step.What >= 10)
            {
                MakeConfiguration();
                return;
            }

            if (!_roles.ContainsKey(node))
            {
                // A node whose removal is not in a configuration yet does not come back: the service sees to that.
                if (!Map.HasChanges)
                {
                    Map.AddNode(node, hasReturned: true);
                    _roles.Add(node, []);
                    _told[node] = new Told();
                }

                return;
            }

            if (step.What == 9)
            {
                Map.RemoveNode(node);
                _roles.Remove(node);
                _told.Remove(node);
                return;
            }

            var role = step.What switch
            {
                <= 3 => TopicRole.Subscribe,
                4 => TopicRole.Publish,
                5 => TopicRole.Publish | TopicRole.Subscribe,
                _ => TopicRole.None,
            };
            Map.SetRole(node, topic, role);
            if (role == TopicRole.None)
            {
                _roles[node].Remove(topic);
                _told[node].Topics.Remove(topic);
                _told[node].ForgetUnseen();
            }
            else
            {
                _roles[node][topic] = role;
            }
        }

        public void MakeConfiguration()
        {
            Map.Apply(++_configuration);
            foreach (var (node, told) in _told)
            {
                Learn(node, told);
            }

            foreach (var (node, told) in _told)
            {
                Check(node, told);
            }

            CheckRegions();
        }

        private void Learn(NodeKey node, Told told)
        {
            var (regions, topics) = Map.NewsOf(node);
            Assert.Equal(regions.Count, regions.DistinctBy(view => view.RegionId).Count());
            Assert.Equal(topics.Count, topics.DistinctBy(view => view.TopicId).Count());
            foreach (var view in regions)
            {
                Assert.True(!told.Regions.TryGetValue(view.RegionId, out var old) || view.Number > old.Number, "views only grow (I7)");
                told.Regions[view.RegionId] = view;
                // What everybody is told of one view is the same.
                uint number = _numbers.GetValueOrDefault(view.RegionId);
                Assert.True(view.Number >= number);
                _numbers[view.RegionId] = view.Number;
                _live[view.RegionId] = view;
            }

            topics.ForEach(view => told.Topics[view.TopicId] = view);
            told.ForgetUnseen();
        }

        private void Check(NodeKey node, Told told)
        {
            Assert.Equal(_roles[node].Keys.Order(), told.Topics.Keys.Order());
            foreach (var (topic, view) in told.Topics)
            {
                var subscribers = _roles.Keys.Where(other => _roles[other].GetValueOrDefault(topic).HasFlag(TopicRole.Subscribe));
                MembershipOracle.CheckTopic(view, id => told.Regions[id], subscribers);
                Assert.Equal(_roles[node][topic].HasFlag(TopicRole.Subscribe), view.Subscribed);
            }

            var (regions, topics) = Map.SnapshotOf(node);
            Assert.Equal(told.Regions.Values.OrderBy(view => view.RegionId), regions);
            Assert.Equal(told.Topics.OrderBy(entry => entry.Key).Select(entry => entry.Value), topics);
        }

        // Same topics, same region; and no two of them at one address.
        private void CheckRegions()
        {
            var sets = _roles.Values
                .Select(roles => roles.Keys.Where(topic => roles[topic].HasFlag(TopicRole.Subscribe)).Order())
                .Select(topics => string.Join(',', topics))
                .Where(set => set.Length > 0)
                .Distinct();
            Assert.Equal(sets.Count(), Map.RegionCount);
            foreach (ulong gone in _live.Where(entry => entry.Value.Members.IsEmpty).Select(entry => entry.Key).ToArray())
            {
                _live.Remove(gone);
            }

            Assert.Equal(_live.Count, _live.Values.Select(view => view.Group).Distinct().Count());
        }
    }
}
