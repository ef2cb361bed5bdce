using System.Collections.Immutable;
using System.Net;
using QuickSilver.Core.Sealing;
using QuickSilver.Membership.Client;
using QuickSilver.Membership.Contracts;
using QuickSilver.Membership.Views;
using QuickSilver.Simulation.Machines;

namespace QuickSilver.Multicast.Tests.Infrastructure;

// A membership service without a network: computes views from the roles it is given, numbers them, and notifies each node
// after a delay of its own, so that nodes know of a change at different times as in life. The real service has tests of its own.
internal sealed class ScriptedService(SimulatedMachines cluster)
{
    private readonly List<ScriptedMembership> _members = [];
    private readonly Dictionary<string, (ulong Id, uint Number, ImmutableArray<NodeKey> Members, IPEndPoint? Group)> _regions = [];
    private readonly List<NodeKey> _removed = [];
    private ulong _regionCounter;
    private long _number;
    private long _settled;
    private ImmutableArray<OpenView> _open = [];
    private long _joins;

    /// <summary>What the nodes share of what they know of the cluster.</summary>
    public SharedViews Views { get; } = new();

    public IReadOnlyList<ScriptedMembership> Members => _members;

    /// <summary>Whether regions that form from now on have a multicast group.</summary>
    public bool HasGroups { get; set; } = true;

    public RepairRules Repair { get; set; } = RepairRules.Default;

    /// <summary>The root of the keys; null: packets are not sealed.</summary>
    public SecretKey? Root { get; set; }

    private ClusterKey? _clusterKey;

    /// <summary>Topics that own their regions.</summary>
    public HashSet<ulong> Pinned { get; } = [];

    // Since when who subscribes to a pinned topic.
    private readonly Dictionary<(string Set, NodeKey Member), long> _since = [];

    /// <summary>The topics that have an address of their own, and the configurations that gave it.</summary>
    public Dictionary<ulong, TopicAddress> Addresses { get; } = [];

    /// <summary>The next configuration gives the topic an address.</summary>
    public void GiveAddress(ulong topic) =>
        Addresses[topic] = new TopicAddress(new IPEndPoint(new IPAddress([239, 2, 0, (byte)topic]), 25_000 + (int)topic), _number + 1);

    public TimeSpan MaxNewsDelay { get; set; } = TimeSpan.FromMilliseconds(5);

    public ScriptedMembership Add(SimulatedMachine node, IMembershipObserver observer, IPEndPoint endPoint)
    {
        var key = new NodeKey((ulong)node.Number + 1, (uint)node.Lives);
        var member = new ScriptedMembership(this, cluster, node, key, endPoint, observer) { JoinOrder = ++_joins };
        _members.Add(member);
        return member;
    }

    public void Remove(params NodeKey[] nodes)
    {
        _members.RemoveAll(member => nodes.Contains(member.Self));
        _removed.AddRange(nodes);
        Commit();
        Settle();
    }

    /// <summary>Makes all changes since the last commit into one configuration.</summary>
    public void Commit()
    {
        _number++;
        foreach (var member in _members.Where(static member => member.AdmittedAt == 0))
        {
            member.AdmittedAt = _number;
        }

        if (Root is not null && (_clusterKey is null || _removed.Count > 0))
        {
            _clusterKey = new ClusterKey(_number, Root.OfCluster(_number));
        }

        var bySet = new SortedDictionary<string, List<ScriptedMembership>>(StringComparer.Ordinal);
        foreach (var member in _members)
        {
            var shared = member.Subscriptions.Where(topic => !Pinned.Contains(topic)).ToList();
            var pinned = member.Subscriptions.Where(Pinned.Contains);
            foreach (string set in pinned.Select(Name).Append(string.Join(',', shared)).Where(set => set.Length > 0))
            {
                (bySet.TryGetValue(set, out var list) ? list : bySet[set] = []).Add(member);
            }
        }

        foreach (var (set, member) in _since.Keys.ToList())
        {
            if (bySet.GetValueOrDefault(set)?.Exists(other => other.Self == member && !other.Renewed.Contains(set)) != true)
            {
                _since.Remove((set, member));
            }
        }

        var changed = new Dictionary<ulong, RegionView>();
        foreach (var (set, members) in bySet)
        {
            var keys = members.Select(member => member.Self).Order().ToImmutableArray();
            if (!_regions.TryGetValue(set, out var region))
            {
                ulong id = ++_regionCounter;
                var address = new IPAddress([239, 1, (byte)(id >> 8), (byte)id]);
                region = (id, 0, [], HasGroups ? new IPEndPoint(address, 20000 + (int)id) : null);
            }
            else if (region.Members.SequenceEqual(keys) && !members.Exists(member => member.Renewed.Contains(set)))
            {
                continue;
            }

            _regions[set] = (region.Id, region.Number + 1, keys, region.Group);
            foreach (var member in keys.Where(_ => IsPinned(set)))
            {
                _since.TryAdd((set, member), _number);
            }

            changed[region.Id] = View(_regions[set]);
        }

        foreach (string set in _regions.Keys.Where(set => !bySet.ContainsKey(set)).ToList())
        {
            var region = _regions[set];
            _regions.Remove(set);
            changed[region.Id] = View((region.Id, region.Number + 1, [], region.Group));
        }

        foreach (var member in _members)
        {
            member.Tell(Change(member, changed), MaxNewsDelay);
        }

        _members.ForEach(static member => member.Renewed.Clear());
        _removed.Clear();
    }

    public void Settle()
    {
        long least = _members.Count == 0 ? _number : _members.Min(member => member.Confirmed);
        var open = _members.SelectMany(member => member.StillOpen).Distinct().ToImmutableArray();
        if (least > _settled || (least == _settled && !open.ToHashSet().SetEquals(_open)))
        {
            _settled = least;
            _open = open;
            foreach (var member in _members.Where(member => member.IsUp))
            {
                member.TellSettled(least, open);
            }
        }
    }

    private RegionView View((ulong Id, uint Number, ImmutableArray<NodeKey> Members, IPEndPoint? Group) region) => new()
    {
        RegionId = region.Id,
        Number = region.Number,
        Configuration = _number,
        Group = region.Group,
        Members = region.Members,
        Repair = Repair,
        Since = SinceOf(region.Id, region.Members),
        Key = Root?.OfView(region.Id, region.Number, 0),
    };

    internal static string Name(ulong topic) => topic.ToString(System.Globalization.CultureInfo.InvariantCulture);

    private bool IsPinned(string set) => Pinned.Select(Name).Contains(set);

    private ImmutableArray<long> SinceOf(ulong region, ImmutableArray<NodeKey> members)
    {
        string? set = _regions.FirstOrDefault(entry => entry.Value.Id == region).Key;
        return set is not null && IsPinned(set) ? [.. members.Select(member => _since[(set, member)])] : [];
    }

    // Sends every node everything that changed and what it has not got yet: more than the real service, never less.
    private ConfigurationChange Change(ScriptedMembership member, Dictionary<ulong, RegionView> changed)
    {
        var topics = new List<TopicView>();
        foreach (ulong topic in member.Open.Order())
        {
            var regions = _regions
                .Where(region => region.Key.Split(',').Contains(Name(topic)))
                .Select(region => region.Value.Id).Order().ToImmutableArray();
            var view = new TopicView
            {
                TopicId = topic,
                Configuration = _number,
                Regions = regions,
                Subscribed = member.Subscriptions.Contains(topic),
                Routed = true,
                Subscribers = _members.Count(other => other.Subscriptions.Contains(topic)),
                Address = Addresses.GetValueOrDefault(topic),
            };
            if (member.Knows(view))
            {
                continue;
            }

            topics.Add(view);
        }

        var known = member.KnownRegions;
        var regionViews = new List<RegionView>(changed.Values);
        foreach (var region in _regions.Values.OrderBy(region => region.Id))
        {
            if (!known.Contains(region.Id) && !changed.ContainsKey(region.Id))
            {
                regionViews.Add(View(region) with { Configuration = member.BornAt(region.Id, _number) });
            }

            known.Add(region.Id);
        }

        var joined = _members.Where(other => member.KnownNodes.Add(other.Self))
            .Select(other => new NodeInfo(other.Self, other.EndPoint, other.JoinOrder, other.AdmittedAt)).ToImmutableArray();
        return new ConfigurationChange
        {
            Number = _number,
            IsSnapshot = false,
            Joined = joined,
            Removed = [.. _removed],
            Regions = [.. regionViews.OrderBy(view => view.RegionId)],
            Topics = [.. topics],
            ClusterKey = _clusterKey,
        };
    }
}

internal sealed class ScriptedMembership(
    ScriptedService service,
    SimulatedMachines cluster,
    SimulatedMachine node,
    NodeKey self,
    IPEndPoint endPoint,
    IMembershipObserver observer)
    : IMembership
{
    private readonly Dictionary<ulong, TopicView> _told = [];
    private TimeSpan _lastNews;

    public NodeKey Self { get; } = self;
    public IPEndPoint EndPoint { get; } = endPoint;
    public bool IsReachable => true;
    public bool IsUp => node.IsUp;
    public NodeRoster Roster { get; } = service.Views.NoNodes;
    public TopicFollows Follows { get; } = new(static _ => { });
    public SortedSet<ulong> Subscriptions { get; } = [];
    public HashSet<ulong> Open { get; } = [];

    /// <summary>Pinned topics, by name, that the node has closed and opened again since the last configuration.</summary>
    public HashSet<string> Renewed { get; } = [];

    public HashSet<ulong> KnownRegions { get; } = [];
    public HashSet<NodeKey> KnownNodes { get; } = [];
    public List<NodeKey> Suspects { get; } = [];
    public long Confirmed { get; private set; }
    public ImmutableArray<OpenView> StillOpen { get; private set; } = [];
    public long JoinOrder { get; init; }
    public long AdmittedAt { get; set; }
    public long Applied { get; private set; }

    public long BornAt(ulong region, long number) => number;

    public bool Knows(TopicView view)
    {
        bool same = _told.TryGetValue(view.TopicId, out var told) && told.Subscribed == view.Subscribed
            && told.Subscribers == view.Subscribers && Equals(told.Address, view.Address) && told.Regions.SequenceEqual(view.Regions);
        _told[view.TopicId] = view;
        return same;
    }

    public void Tell(ConfigurationChange change, TimeSpan maxDelay)
    {
        var life = node.Environment;
        var delay = TimeSpan.FromTicks((long)(life.NextRandom() % (ulong)(maxDelay.Ticks + 1)));
        var due = cluster.Now + delay;
        _lastNews = due > _lastNews ? due : _lastNews;
        cluster.At(_lastNews, () => Deliver(life, () =>
        {
            Applied = change.Number;
            observer.OnConfiguration(change);
        }));
    }

    // In order with the news, as a stream has it: a node that hears that a view is settled knows which nodes were removed from it.
    public void TellSettled(long number, ImmutableArray<OpenView> open)
    {
        var life = node.Environment;
        var due = cluster.Now + TimeSpan.FromMilliseconds(1);
        _lastNews = due > _lastNews ? due : _lastNews;
        cluster.At(_lastNews, () => Deliver(life, () => observer.OnSettled(number, open)));
    }

    public void Confirm(long configuration, ImmutableArray<OpenView> open)
    {
        Confirmed = configuration;
        StillOpen = open;
        cluster.After(TimeSpan.FromMilliseconds(1), service.Settle);
    }

    public void ReportSuspect(NodeKey suspect, string reason) => Suspects.Add(suspect);

    public void Close(ulong topicId)
    {
        Open.Remove(topicId);
        Subscriptions.Remove(topicId);
        _told.Remove(topicId);
    }

    /// <summary>A pinned topic was closed and opened again: its region gets a new view, although it has the same members.</summary>
    public void Renew(ulong topicId)
    {
        Renewed.Add(ScriptedService.Name(topicId));
        foreach (var member in service.Members)
        {
            member._told.Remove(topicId);
        }
    }

    void IMembership.Open(TopicRequest request, Action<TopicOutcome> completed) =>
        throw new NotSupportedException("The script opens topics.");

    public string? GaveUp { get; private set; }

    // As from a node that has left.
    public void GiveUp(string reason)
    {
        GaveUp = reason;
        cluster.After(TimeSpan.FromMilliseconds(1), () => service.Remove(Self));
    }

    public void Leave(Action completed) => completed();

    // News wait while a node is paused, and die with it.
    private static void Deliver(SimulatedEnvironment life, Action news)
    {
        if (life.IsAlive)
        {
            life.Post(new Core.Requests.ActionRequest(news));
        }
    }
}
