using System.Net;
using FsCheck;
using FsCheck.Fluent;
using QuickSilver.Membership.Client;
using QuickSilver.Membership.Contracts;
using QuickSilver.Membership.Protocol.Replies;
using QuickSilver.Membership.Protocol.Requests;
using QuickSilver.Membership.Regions;
using QuickSilver.Membership.Regions.Addresses;
using QuickSilver.Membership.Regions.Adoption;
using QuickSilver.Membership.Regions.Sets;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Tests.Infrastructure;

// A history of a region map, from random steps: the truth beside the map, and what each node got so far.
internal sealed class MapHistory(Func<ulong, TopicSetKey> keyOfTopic, TopicSetRules? rules)
{
    private const int NodeCount = 6;
    private const int TopicCount = 5;

    private AddressPlan _plan = new("test", IPNetwork.Parse("239.192.0.0/14"));
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
    }

    private Dictionary<(NodeKey, int), ulong> _regionOf = [];

    // A step sets a node's role in a topic, removes or brings back a node, or makes a configuration.
    public sealed record Step(int Node, int Topic, int What);

    private static readonly Gen<Step> Steps =
        from node in Gen.Choose(0, NodeCount - 1)
        from topic in Gen.Choose(0, TopicCount - 1)
        from what in Gen.Choose(0, 11)
        select new Step(node, topic, what);

    public static Arbitrary<Step[]> All { get; } = Steps.ListOf().Select(steps => steps.ToArray()).ToArbitrary();

    public RegionMap Map => _map ??= new RegionMap(_plan, 1, rules, keyOfTopic);

    /// <summary>Subscriptions that came or went.</summary>
    public int Changes { get; private set; }

    /// <summary>How often a node changed its region of a set.</summary>
    public int Moves { get; private set; }

    public int MostSets { get; private set; }

    /// <summary>The enclosure of each topic, as of the next configuration.</summary>
    public Func<ulong, ulong> EnclosureOf { get; set; } = static _ => 0;

    /// <summary>The most topics that shared a region and an enclosure.</summary>
    public int MostEnclosed { get; private set; }

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
            Changes += _roles[node].Values.Count(role => role.HasFlag(TopicRole.Subscribe));
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
        Changes += role.HasFlag(TopicRole.Subscribe) == _roles[node].GetValueOrDefault(topic).HasFlag(TopicRole.Subscribe) ? 0 : 1;
        if (role == TopicRole.None)
        {
            _roles[node].Remove(topic);
            _told[node].Topics.Remove(topic);
        }
        else
        {
            _roles[node][topic] = role;
        }
    }

    /// <summary>Another service takes over, and makes its first configuration of what the nodes register and hold.</summary>
    public void ChangeService(uint firstRegion)
    {
        var origin = new Origin(1, _configuration);
        // What is not in its first configuration is over.
        _live.Clear();
        _plan = new AddressPlan("test", IPNetwork.Parse("239.192.0.0/14"));
        _map = new RegionMap(_plan, firstRegion, rules, keyOfTopic);
        _configuration = ((_configuration >> 32) + 1) << 32;
        foreach (var (node, told) in _told)
        {
            _map.AddNode(node, hasReturned: true, origin, AdoptableViews.Of(Register(node, told), origin.Configuration));
            foreach (var (topic, role) in _roles[node])
            {
                _map.SetRole(node, topic, role, wasRouted: told.Topics.GetValueOrDefault(topic) is { Routed: true });
            }

            told.Regions.Clear();
            told.Topics.Clear();
        }

        MakeConfiguration();
    }

    private IEnumerable<(ulong Topic, ulong Region, HeldView? View)> Register(NodeKey node, Told told)
    {
        var held = new HeldRegions(node);
        held.Apply(isSnapshot: true, new ConfigurationContent { Regions = [.. told.Regions.Values] });
        held.BeginReport();
        foreach (var view in told.Topics.Values)
        {
            bool subscribes = view.Subscribed && _roles[node][view.TopicId].HasFlag(TopicRole.Subscribe);
            var request = new SetTopicMessage { RequestId = 1, Topic = Requests.Topic("any", TopicRole.Subscribe) };
            request = held.Report(request, subscribes ? view.Regions : default);
            yield return (view.TopicId, request.Region, request.View);
        }
    }

    public void MakeConfiguration()
    {
        foreach (ulong topic in Map.Topics.Keys)
        {
            Map.SetEnclosure(topic, EnclosureOf(topic));
        }

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
        CountMoves();
    }

    private void CountMoves()
    {
        var now = Map.Regions.Values
            .SelectMany(region => region.Members.Select(place => (Place: (place.Node.Key, region.Set), region.Id)))
            .ToDictionary(entry => entry.Place, entry => entry.Id);
        Moves += now.Keys.Union(_regionOf.Keys)
            .Count(place => now.GetValueOrDefault(place) != _regionOf.GetValueOrDefault(place));
        MostSets = Math.Max(MostSets, now.Keys.Select(place => place.Item2).Distinct().Count());
        _regionOf = now;
    }

    private void Learn(NodeKey node, Told told)
    {
        var (regions, topics, outOfSight) = Map.NewsOf(node);
        Assert.Equal(regions.Count, regions.DistinctBy(view => view.RegionId).Count());
        Assert.Equal(topics.Count, topics.DistinctBy(view => view.TopicId).Count());
        foreach (var view in regions)
        {
            Assert.True(!told.Regions.TryGetValue(view.RegionId, out var old) || view.Number > old.Number, "views only grow (I7)");
            told.Regions[view.RegionId] = view;
            // All nodes get the same of one view.
            uint number = _numbers.GetValueOrDefault(view.RegionId);
            Assert.True(view.Number >= number);
            _numbers[view.RegionId] = view.Number;
            _live[view.RegionId] = view;
        }

        topics.ForEach(view => told.Topics[view.TopicId] = view);
        foreach (ulong region in outOfSight)
        {
            Assert.Contains(regions, view => view.RegionId == region);
            Assert.True(told.Regions.Remove(region), "a node hears once that it gets no more of a region, and only of one that it got");
        }
    }

    private void Check(NodeKey node, Told told)
    {
        Assert.Equal(_roles[node].Keys.Order(), told.Topics.Keys.Order());
        foreach (var (topic, view) in told.Topics)
        {
            var subscribers = _roles.Keys.Where(other => _roles[other].GetValueOrDefault(topic).HasFlag(TopicRole.Subscribe));
            MembershipOracle.CheckTopic(view, id => _live[id], subscribers);
            Assert.Equal(_roles[node][topic].HasFlag(TopicRole.Subscribe), view.Subscribed);
            Assert.True(view.Routed || !_roles[node][topic].HasFlag(TopicRole.Publish), "a node that may publish knows where to");
            Assert.All(view.Regions, id => Assert.True(told.Regions.ContainsKey(id) || !IsToldOf(node, view, _live[id])));
        }

        var (regions, topics, _) = Map.SnapshotOf(node);
        Assert.Equal(told.Regions.Values.OrderBy(view => view.RegionId), regions);
        Assert.Equal(told.Topics.OrderBy(entry => entry.Key).Select(entry => entry.Value), topics);
    }

    private static bool IsToldOf(NodeKey node, TopicView topic, RegionView region) => topic.Routed || region.Members.Contains(node);

    // Same topics of a set, same region; a node in one region of a set; and no two regions at one address.
    private void CheckRegions()
    {
        var overlaps = _roles.Values
            .SelectMany(roles => roles.Keys
                .Where(topic => roles[topic].HasFlag(TopicRole.Subscribe))
                .Order()
                .GroupBy(topic => Map.Topics[topic].Set, (set, topics) => $"{set}: {string.Join(',', topics)}"))
            .Distinct();
        Assert.Equal(overlaps.Count(), Map.RegionCount);
        var places = Map.Regions.Values.SelectMany(region => region.Members.Select(place => (place.Node.Key, region.Set))).ToList();
        Assert.Equal(places.Count, places.Distinct().Count());
        foreach (var topic in Map.Topics.Values)
        {
            Assert.All(topic.Regions.All, region => Assert.True(region.Set == topic.Set && region.Contains(topic.Id)));
        }

        foreach (var region in Map.Regions.Values)
        {
            ulong enclosure = Assert.Single(region.Topics.Select(topic => EnclosureOf(topic.Id)).Distinct());
            MostEnclosed = Math.Max(MostEnclosed, enclosure == 0 ? 0 : region.Topics.Length);
            Assert.Equal(region.AwaitingViewEnd.Count, region.AwaitingViewEnd.Distinct().Count());
            Assert.All(region.AwaitingViewEnd, node => Assert.Contains(node.Key, _roles.Keys));
        }

        foreach (var (id, view) in _live.ToArray())
        {
            if (view.Members.IsEmpty || !Map.Regions.ContainsKey(id))
            {
                _live.Remove(id);
            }
        }

        var groups = _live.Values.Select(view => view.Group).Where(group => group is not null).ToList();
        Assert.Equal(groups.Count, groups.Distinct().Count());
    }
}
