using System.Collections.Immutable;
using System.Net;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;
using QuickSilver.Core.Environment;
using QuickSilver.Membership.Client;
using QuickSilver.Membership.Contracts;
using QuickSilver.Membership.Protocol.Replies;
using QuickSilver.Membership.Protocol.Requests;
using QuickSilver.Membership.Service;
using QuickSilver.Membership.Snapshots;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Tests.Infrastructure;

// A membership client and the world as it was reported to it: every configuration is applied as the contract says, and what
// may never happen is asserted as it comes.
internal sealed class FakeNode : IMembershipObserver
{
    private readonly INodeEnvironment _environment;

    public FakeNode(
        INodeEnvironment environment,
        MembershipClientOptions options,
        ILogger? logger = null,
        ConfigurationCache? configurations = null)
    {
        _environment = environment;
        configurations ??= new ConfigurationCache();
        Client = new MembershipClient(environment, options, this, configurations, logger ?? NullLogger.Instance);
    }

    public FakeEnvironment Environment => (FakeEnvironment)_environment;

    public MembershipClient Client { get; }

    public NodeKey Key => Client.Self;

    public List<ConfigurationChange> Changes { get; } = [];

    public Dictionary<NodeKey, NodeInfo> Nodes { get; } = [];

    public Dictionary<ulong, RegionView> Regions { get; } = [];

    public Dictionary<ulong, TopicView> Topics { get; } = [];

    public Dictionary<ulong, uint> HighestRegionNumber { get; } = [];

    public List<string> Outcomes { get; } = [];

    /// <summary>Whether datagrams go there and come back.</summary>
    public Func<IPEndPoint, bool> Reaches { get; set; } = _ => true;

    public int Inquiries { get; private set; }

    /// <summary>What the node reports when an observer watches, by the rows that are wanted; null: nothing.</summary>
    public Func<int, NodeSnapshot?> Signs { get; set; } = _ => new NodeSnapshot { Topics = 1 };

    public int SignsWanted { get; private set; }

    public IPEndPoint EndPoint => new(Environment.LocalAddress, 5000);

    public long Settled { get; private set; }

    public ImmutableArray<OpenView> StillOpen { get; private set; } = [];

    public string? Expelled { get; private set; }

    public bool? Reachable { get; private set; }

    // Confirms each configuration as it comes, as a node with nothing in flight does.
    public bool Confirms { get; set; } = true;

    public static FakeNode Start(
        FakeWorld world,
        ulong id,
        IPEndPoint? service,
        MembershipServiceOptions? hosted = null,
        uint incarnation = 1,
        ILogger? logger = null,
        byte[]? proof = null,
        string name = "")
    {
        var environment = world.AddNode(id * 7919 + incarnation);
        var node = new FakeNode(environment, new MembershipClientOptions
        {
            Self = new NodeKey(id, incarnation),
            Proof = proof,
            Name = name,
            EndPoint = new IPEndPoint(environment.LocalAddress, 5000),
            Services = service is null ? [] : [service],
            Hosted = hosted ?? new MembershipServiceOptions(),
        }, logger, world.Configurations);
        node.Client.Start();
        return node;
    }

    public void Open(string topic, TopicRole role = TopicRole.Publish | TopicRole.Subscribe, ContractDescription? contract = null) =>
        Client.Open(Requests.Topic(topic, role, contract), outcome => Outcomes.Add(outcome.Refusal ?? "granted"));

    // It may publish too, so that it gets all the topic's regions.
    public void Subscribe(params string[] topics) => Array.ForEach(topics, topic => Open(topic));

    public void Close(string topic)
    {
        Client.Close(TopicId.Of(topic));
        Topics.Remove(TopicId.Of(topic));
    }

    public TopicView View(string topic) => Topics[TopicId.Of(topic)];

    public bool Has(string topic) => Topics.ContainsKey(TopicId.Of(topic));

    /// <summary>The regions of a topic, as sets of members; every region that the view names must be known.</summary>
    public List<ulong[]> MembersOf(string topic) =>
        [.. View(topic).Regions.Select(region => Regions[region].Members.Select(member => member.Id).ToArray())];

    public void OnConfiguration(ConfigurationChange change)
    {
        Assert.True(Changes.Count == 0 || change.Number > Changes[^1].Number, "configurations only grow (I7)");
        Changes.Add(change);
        if (change.IsSnapshot)
        {
            Nodes.Clear();
            Regions.Clear();
            Topics.Clear();
        }

        foreach (var key in change.Removed)
        {
            Assert.True(Nodes.Remove(key), $"{key} is removed and was not there");
        }

        foreach (var info in change.Joined)
        {
            Nodes.Add(info.Key, info);
        }

        foreach (var view in change.Regions)
        {
            Learn(view, change.IsSnapshot);
        }

        foreach (var view in change.Topics)
        {
            Topics[view.TopicId] = view;
            Assert.True(!view.Routed || view.Regions.All(Regions.ContainsKey), "a topic's regions are known with it");
            Assert.True(!view.Subscribed || view.Regions.Count(IsIn) == 1, "a subscriber is in one of the topic's regions");
        }

        Assert.True(Nodes.ContainsKey(Key), "a view holds its receiver (I7)");
        if (Confirms)
        {
            Client.Confirm(change.Number, []);
        }
    }

    public void OnSettled(long configuration, ImmutableArray<OpenView> open)
    {
        Assert.True(configuration >= Settled || Changes.Exists(change => change.IsSnapshot), "settlement only grows");
        Settled = Math.Max(Settled, configuration);
        StillOpen = open;
        WhenSettled?.Invoke(configuration);
    }

    public Action<long>? WhenSettled { get; set; }

    public Action? WhenExpelled { get; set; }

    public void OnExpelled(string reason)
    {
        Expelled = reason;
        WhenExpelled?.Invoke();
    }

    public string? GaveUp { get; private set; }

    public void OnGaveUp(string reason) => GaveUp = reason;

    public List<(ulong TopicId, string Reason)> RefusedTopics { get; } = [];

    public void OnTopicRefused(ulong topicId, string reason, string? deniedTo = null) => RefusedTopics.Add((topicId, reason));

    public void OnInquiry(ImmutableArray<IPEndPoint> targets, TimeSpan wait, Action<EchoesAnswered> completed)
    {
        Inquiries++;
        ulong reached = 0;
        for (int i = 0; i < targets.Length; i++)
        {
            reached |= Reaches(targets[i]) ? 1UL << i : 0;
        }

        completed(new EchoesAnswered(reached, reached));
    }

    public void OnSnapshotWanted(int rows, Action<NodeSnapshot> completed)
    {
        SignsWanted++;
        if (Signs(rows) is { } signs)
        {
            completed(signs);
        }
    }

    public void OnServiceReachable(bool reachable)
    {
        Assert.NotEqual(reachable, Reachable ?? false);
        Reachable = reachable;
    }

    private bool IsIn(ulong region) => Regions.TryGetValue(region, out var view) && view.Members.Contains(Key);

    private static bool IsSame(RegionView a, RegionView b) =>
        a with { Members = [] } == b with { Members = [] } && a.Members.SequenceEqual(b.Members);

    private void Learn(RegionView view, bool isSnapshot)
    {
        uint highest = HighestRegionNumber.GetValueOrDefault(view.RegionId);
        Assert.True(view.Number >= highest, "region views only grow (I7)");
        Assert.True(isSnapshot || view.Number > highest || IsSame(view, Regions[view.RegionId]), "a view sent again is the same view");
        Assert.True(view.Members.SequenceEqual(view.Members.Order()), "members are in order");
        HighestRegionNumber[view.RegionId] = Math.Max(view.Number, highest);
        if (view.Members.IsEmpty)
        {
            Regions.Remove(view.RegionId);
        }
        else
        {
            Regions[view.RegionId] = view;
        }
    }
}
