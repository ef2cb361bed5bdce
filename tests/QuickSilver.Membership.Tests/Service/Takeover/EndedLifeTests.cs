using QuickSilver.Membership.Protocol.Replies;
using QuickSilver.Membership.Service.Stores;
using QuickSilver.Membership.Service.Takeover;
using QuickSilver.Membership.Tests.Infrastructure;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Tests.Service.Takeover;

// I10 over a change of the leader: a node that was removed permanently does not come back as the same one. F4, F8.
public sealed class EndedLifeTests
{
    private static readonly NodeKey Gone = new(3, 1);

    private readonly LeasedStore _store = new();
    private readonly FakeCluster _cluster;
    private readonly FakeNode[] _nodes;
    private bool _isCut;

    public EndedLifeTests()
    {
        _cluster = new FakeCluster(store: _store);
        _cluster.World.IsStreamBlocked = (from, to) => _isCut && (from == _nodes![2].Environment || to == _nodes![2].Environment);
        _nodes = _cluster.AddNodes(3);
        Array.ForEach(_nodes, static node => node.Subscribe("A"));
        _cluster.Run(1);
    }

    private FakeNode Removed => _nodes[2];

    private FakeNode[] Others => _nodes[..2];

    [Theory]
    [InlineData(1)]
    [InlineData(3)]
    public void A_removed_node_is_refused_by_the_leaders_that_follow(int changes)
    {
        RemoveUnheard();
        for (int i = 0; i < changes; i++)
        {
            ChangeLeader();
        }

        AssertRefused();
    }

    [Fact]
    public void A_service_that_restarts_without_its_store_refuses_a_removed_node()
    {
        RemoveUnheard();
        _cluster.Store = new MemoryMembershipStore();
        ChangeLeader();
        AssertRefused();
    }

    [Fact]
    public void A_removed_node_that_returns_before_the_nodes_that_know_is_removed_again_before_it_is_admitted()
    {
        RemoveUnheard();
        foreach (var other in Others)
        {
            other.Environment.Pause();
        }

        _cluster.ServiceEnvironment.Crash();
        _isCut = false;
        _cluster.StartService();
        _cluster.World.RunUntil(() => _cluster.Service.MemberCount == 1);
        Assert.Null(Removed.Expelled);
        foreach (var other in Others)
        {
            other.Environment.Resume();
        }

        AssertRefused();
        ulong service = _nodes[0].Changes[^1].Service;
        var told = Others.SelectMany(static node => node.Changes).Where(change => change.Service == service);
        Assert.DoesNotContain(told, static change => change.Joined.Any(static joined => joined.Key == Gone));
    }

    [Fact]
    public void A_removal_that_one_node_was_notified_of_holds()
    {
        // The configuration that removes the node does not reach the second one before the leader is gone.
        Cut();
        _cluster.World.RunUntil(() => _cluster.Service.MemberCount == 2);
        _nodes[1].Environment.Pause();
        _cluster.World.RunUntil(() => _nodes[0].Nodes.Count == 2);
        _cluster.ServiceEnvironment.Crash();
        _nodes[1].Environment.Resume();
        _cluster.StartService();
        _cluster.World.RunUntil(() => Others.All(static node => node.Client.IsReachable));
        AssertRefused();
    }

    [Fact]
    public void A_removal_that_only_the_lost_leader_knew_ends_no_life()
    {
        _store.Answers = false;
        Cut();
        _cluster.World.RunUntil(() => _cluster.Service.MemberCount == 2);
        _cluster.Run(1);
        _store.Answers = true;
        _isCut = false;
        _cluster.ServiceEnvironment.Crash();
        _cluster.StartService();
        _cluster.World.RunUntil(() => _nodes.All(static node => node.Client.IsReachable));
        _cluster.Run(3);
        Assert.Null(Removed.Expelled);
        Assert.All(_nodes, static node => Assert.Equal(3, node.Nodes.Count));
    }

    [Fact]
    public void A_node_that_joined_after_the_removal_reports_it_too()
    {
        RemoveUnheard();
        var late = _cluster.AddNode(4);
        _cluster.World.RunUntil(() => late.Nodes.Count == 3);
        foreach (var other in Others)
        {
            other.Environment.Crash();
        }

        _cluster.Run(5);
        ChangeLeader();
        AssertRefused();
    }

    [Fact]
    public void A_node_that_never_received_the_configuration_of_the_leader_that_removed_it_is_refused_by_it_and_by_the_next()
    {
        // It is admitted, and its connection breaks before the news reaches it.
        _cluster.ServiceEnvironment.Crash();
        _cluster.StartService();
        _cluster.World.RunUntil(() => _cluster.Service.MemberCount == 3);
        Cut();
        _cluster.World.RunUntil(() => Others.All(static node => node.Nodes.Count == 2 && !node.Nodes.ContainsKey(Gone)));
        ChangeLeader();
        AssertRefused();
    }

    [Fact]
    public void The_next_life_of_a_removed_node_is_admitted()
    {
        RemoveUnheard();
        ChangeLeader();
        AssertRefused();
        var next = _cluster.AddNode(Gone.Id, incarnation: 2);
        _cluster.World.RunUntil(() => next.Nodes.Count == 3);
        Assert.All(Others, node => Assert.Contains(next.Key, node.Nodes.Keys));
    }

    [Fact]
    public void A_node_that_has_lived_on_under_another_service_is_no_ended_life()
    {
        var ended = new EndedLife(Gone, Service: 7, Number: 20, Origin: new Origin(5, 9));
        Assert.True(ended.Ends(new Origin(7, 19)));
        Assert.False(ended.Ends(new Origin(7, 20)));
        Assert.True(ended.Ends(new Origin(5, 9)));
        Assert.False(ended.Ends(new Origin(5, 10)));
        Assert.False(ended.Ends(new Origin(8, 1)));
    }

    [Fact]
    public void Records_of_100000_ended_lives_are_bounded_and_the_newest_are_reported()
    {
        var lives = new EndedLives(service: 7);
        var known = System.Collections.Immutable.ImmutableArray<EndedLife>.Empty;
        for (uint i = 1; i <= 100_000; i++)
        {
            lives.Add(new NodeKey(i, 1), "gone", new Origin(5, 9));
            if (i % 100 == 0)
            {
                lives.OnMade(i);
                known = new ConfigurationContent { Ended = [.. lives.News] }.EndedAfter(isSnapshot: false, known);
            }
        }

        Assert.Equal(EndedLife.Most, lives.Announced.Count);
        Assert.Equal(lives.Announced, known);
        Assert.Equal(new EndedLife(new NodeKey(100_000, 1), 7, 100_000, new Origin(5, 9)), lives.Announced[^1]);
        Assert.Null(lives.Find(new NodeKey(1, 1)));
        Assert.NotNull(lives.Find(new NodeKey(90_000, 1)));
    }

    [Fact]
    public void A_member_forgets_the_end_of_a_life_that_is_taken_back()
    {
        var lives = new EndedLives(service: 7);
        lives.Learn(new EndedLife(Gone, 6, 5));
        lives.OnMade(10);
        var known = new ConfigurationContent { Ended = [.. lives.News] }.EndedAfter(isSnapshot: false, []);
        Assert.Single(known);
        lives.OnTakenBack(Gone);
        Assert.Empty(lives.Announced);
        Assert.Empty(new ConfigurationContent { Joined = [new NodeInfo(Gone, Removed.EndPoint, 1)] }.EndedAfter(isSnapshot: false, known));
    }

    [Fact]
    public void Reports_of_nodes_displace_little_of_what_the_service_knows()
    {
        var lives = new EndedLives(service: 7);
        lives.Add(Gone, "gone", new Origin(5, 9));
        for (uint i = 1; i <= 100_000; i++)
        {
            lives.Learn(new EndedLife(new NodeKey(i + 10, 1), 6, 5));
        }

        Assert.NotNull(lives.Find(Gone));
        Assert.Null(lives.Find(new NodeKey(50_000, 1)));
    }

    private void Cut()
    {
        _isCut = true;
        Removed.Environment.BreakStreams();
    }

    private void RemoveUnheard()
    {
        Cut();
        _cluster.World.RunUntil(() => Others.All(static node => node.Nodes.Count == 2));
        Assert.Null(Removed.Expelled);
    }

    private void ChangeLeader()
    {
        var live = _cluster.Nodes.Where(node => node != Removed && !node.Environment.IsCrashed).ToArray();
        long last = live.Max(static node => node.Changes[^1].Number);
        _cluster.ServiceEnvironment.Crash();
        _cluster.StartService();
        _cluster.World.RunUntil(() => live.All(node => node.Client.IsReachable && node.Changes[^1].Number > last));
    }

    private void AssertRefused()
    {
        _isCut = false;
        _cluster.World.RunUntil(() => Removed.Expelled is not null);
        Assert.Contains("the membership service removed it", Removed.Expelled, StringComparison.Ordinal);
        _cluster.Run(3);
        Assert.All(
            _cluster.Nodes.Where(static node => !node.Environment.IsCrashed && node.Expelled is null),
            static node => Assert.DoesNotContain(Gone, node.Nodes.Keys));
    }
}
