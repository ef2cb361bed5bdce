using System.Net;
using Microsoft.Extensions.Logging.Abstractions;
using QuickSilver.Core.Tests.Infrastructure;
using QuickSilver.Membership.Client;
using QuickSilver.Membership.Diagnostics;
using QuickSilver.Membership.Service;
using QuickSilver.Membership.Service.Sessions;
using QuickSilver.Membership.Service.Stores;
using QuickSilver.Membership.Service.Takeover;
using QuickSilver.Membership.Tests.Infrastructure;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Tests.Service.Takeover;

// F4 (one of several servers), F8; I7, I9.
public sealed class SeveralServersTests
{
    private readonly LeasedStore _store = new();
    private readonly FakeCluster _cluster;
    private readonly ServiceCounters _counters = new();
    private readonly LogRecorder _audit = new();
    private ulong _seed = 700;

    public SeveralServersTests() => _cluster = new FakeCluster(store: _store);

    [Fact]
    public void A_configuration_whose_number_is_not_claimed_reaches_no_node_and_has_what_changes_meanwhile()
    {
        _store.Answers = false;
        var first = _cluster.AddNode(1);
        _cluster.Run(1);
        Assert.True(first.Client.IsReachable);
        Assert.Empty(first.Changes);
        var second = _cluster.AddNode(2);
        _cluster.Run(1);
        Assert.Single(_store.Claimed);

        _cluster.ServiceEnvironment.Post(new Core.Requests.ActionRequest(_store.Answer));
        _cluster.Run(0.05);
        Assert.Equal(2, Assert.Single(first.Changes).Joined.Length);
        Assert.Equal(_store.Claimed, first.Changes.ConvertAll(static change => change.Number));
        Assert.Equal(first.Changes[0].Number, Assert.Single(second.Changes).Number);
    }

    [Fact]
    public void A_server_whose_lease_has_ended_removes_no_node_and_reports_nothing_new()
    {
        var nodes = _cluster.AddNodes(3);
        _cluster.Run(1);
        long told = nodes[0].Changes[^1].Number;
        (_store.IsHeld, _store.Answers) = (false, false);
        nodes[2].Environment.Crash();
        nodes[1].Subscribe("A");
        _cluster.Run(60);
        Assert.Equal(3, _cluster.Service.MemberCount);
        Assert.Equal(told, nodes[0].Changes[^1].Number);
        Assert.All(nodes[..2], static node => Assert.Null(node.Expelled));

        _store.IsHeld = true;
        _cluster.ServiceEnvironment.Post(new Core.Requests.ActionRequest(_store.Answer));
        _cluster.World.RunUntil(() => nodes[0].Nodes.Count == 2);
        Assert.Equal([[2]], nodes[1].MembersOf("A"));
    }

    [Fact]
    public void A_claim_that_is_answered_after_the_service_has_ended_is_not_used()
    {
        var node = _cluster.AddNodes(1)[0];
        _cluster.Run(1);
        int before = node.Changes.Count;
        _store.Answers = false;
        node.Subscribe("A");
        _cluster.Run(1);
        _cluster.Service.Retire(successor: null);
        _cluster.ServiceEnvironment.Post(new Core.Requests.ActionRequest(_store.Answer));
        _cluster.Run(1);
        Assert.Equal(before, node.Changes.Count);
    }

    // A process can be stopped between the check of its lease and the bytes of the configuration.
    [Fact]
    public void A_configuration_that_a_server_makes_when_another_has_led_is_not_applied()
    {
        var (nodes, other) = StartTwoThatChangedServers();
        long[] led = [.. nodes.Select(static node => node.Changes[^1].Number)];
        WakeInTheMiddleOfAConfiguration();
        Assert.All(nodes.Zip(led), node =>
        {
            Assert.Equal(node.Second, node.First.Changes[^1].Number);
            Assert.Equal(other.LocalEndPoint, node.First.Client.ServiceEndPoint);
            Assert.Null(node.First.Expelled);
        });
    }

    [Fact]
    public void A_node_that_comes_back_to_a_server_that_others_have_followed_does_not_go_back_with_it()
    {
        var (nodes, other) = StartTwoThatChangedServers();
        WakeInTheMiddleOfAConfiguration();
        long made = _store.Claimed[^1];
        other.Environment.Crash();
        _cluster.Run(30);
        Assert.All(nodes, node =>
        {
            var numbers = node.Changes.ConvertAll(static change => change.Number);
            Assert.Equal(numbers.Order(), numbers);
            Assert.DoesNotContain(made, numbers);
            Assert.Equal(2, node.Nodes.Count);
            Assert.Null(node.Expelled);
        });
    }

    [Fact]
    public void A_node_finds_the_server_that_leads_by_way_of_one_that_does_not()
    {
        var standby = StandBy(leader: FakeCluster.EndPoint);
        var node = Start(1, standby.LocalEndPoint);
        _cluster.Run(1);
        Assert.Equal(FakeCluster.EndPoint, node.Client.ServiceEndPoint);
        Assert.Single(node.Nodes);
    }

    [Fact]
    public void A_node_comes_back_to_the_leader_that_it_was_sent_to_when_the_server_named_to_it_is_gone()
    {
        var environment = _cluster.World.AddNode(++_seed);
        var standby = new Standby(
            environment, new SessionLimits(), new Refusals(_counters, _audit), new IPEndPoint(environment.LocalAddress, 7401))
        {
            Leader = FakeCluster.EndPoint,
        };
        var node = Start(1, standby.LocalEndPoint);
        _cluster.World.RunUntil(() => node.Nodes.Count == 1);
        environment.Crash();
        node.Environment.BreakStreams();
        _cluster.Run(2);
        Assert.True(node.Client.IsReachable);
        Assert.Null(node.Expelled);
    }

    [Fact]
    public void A_node_that_finds_servers_and_no_leader_says_so()
    {
        var standby = StandBy(leader: null);
        var node = Start(1, standby.LocalEndPoint);
        _cluster.Run(2);
        Assert.Equal("the server does not lead, or ends, and names no other server that leads", node.Client.LastFailure);
    }

    [Fact]
    public void A_node_tries_all_servers_within_the_grace_of_one_that_takes_over()
    {
        var nobody = new IPEndPoint(_cluster.World.AddNode(99).LocalAddress, 7401);
        var ignorant = StandBy(leader: null);
        FakeNode[] nodes =
        [
            Start(1, nobody, ignorant.LocalEndPoint, FakeCluster.EndPoint),
            Start(2, ignorant.LocalEndPoint, FakeCluster.EndPoint, nobody),
            Start(3, FakeCluster.EndPoint, nobody, ignorant.LocalEndPoint),
        ];
        _cluster.World.RunUntil(() => Array.TrueForAll(nodes, static node => node.Nodes.Count == 3));
        Array.ForEach(nodes, static node => node.Subscribe("A"));
        _cluster.Run(1);
        _cluster.ServiceEnvironment.Crash();
        _cluster.Run(20);
        _cluster.StartService();
        int[] before = [.. nodes.Select(static node => node.Changes.Count)];
        _cluster.Run(3);
        // All came in time: there was no view without one of them.
        Assert.All(nodes.Zip(before), static node => Assert.Equal(3, node.First.Changes[node.Second].Joined.Length));
        Assert.Equal([[1, 2, 3]], nodes[0].MembersOf("A"));
    }

    // Until its lease is over, the servers that stand by name the leader that is gone.
    [Fact]
    public void A_node_that_is_sent_to_a_lost_leader_again_and_again_tries_all_servers_within_the_grace_of_the_next()
    {
        var lost = new IPEndPoint(_cluster.World.AddNode(99).LocalAddress, 7401);
        var standbys = Enumerable.Range(0, 4).Select(_ => StandBy(leader: lost).LocalEndPoint);
        IPEndPoint[] servers = [.. standbys.Prepend(lost).Append(FakeCluster.EndPoint)];
        FakeNode[] nodes = [.. Enumerable.Range(1, 12).Select(id => Start((ulong)id, servers))];
        _cluster.World.RunUntil(() => Array.TrueForAll(nodes, static node => node.Nodes.Count == 12));
        _cluster.ServiceEnvironment.Crash();
        _cluster.Run(20);
        _cluster.StartService();
        _cluster.Run(1.6);
        Assert.All(nodes, static node => Assert.True(node.Client.IsReachable));
    }

    [Fact]
    public void A_node_whose_server_stands_still_goes_to_the_one_that_leads_as_soon_as_that_is_reported()
    {
        var standby = StandBy(leader: FakeCluster.EndPoint);
        var node = Admitted(FakeCluster.EndPoint, standby.LocalEndPoint);
        _cluster.ServiceEnvironment.Pause();
        _cluster.Run(3);
        Assert.Equal(FakeCluster.EndPoint, node.Client.ServiceEndPoint);
        standby.Leader = Lead(2);
        _cluster.Run(0.2);
        Assert.True(node.Client.IsReachable);
        Assert.Equal(standby.Leader, node.Client.ServiceEndPoint);
    }

    [Fact]
    public void A_node_goes_to_a_server_that_says_nothing_when_its_own_stands_still()
    {
        var other = Lead(2);
        var node = Admitted(FakeCluster.EndPoint, other);
        _cluster.ServiceEnvironment.Pause();
        _cluster.Run(4);
        Assert.True(node.Client.IsReachable);
        Assert.Equal(other, node.Client.ServiceEndPoint);
    }

    [Fact]
    public void A_node_that_stands_still_again_and_again_finds_the_one_that_leads_as_soon_as_others()
    {
        var other = Lead(2);
        var standby = StandBy(other);
        var node = Admitted(FakeCluster.EndPoint, standby.LocalEndPoint);
        _cluster.Run(1);
        _cluster.ServiceEnvironment.Pause();
        for (int i = 0; i < 11; i++)
        {
            node.Environment.Pause();
            _cluster.Run(0.15);
            node.Environment.Resume();
            _cluster.Run(0.1);
        }

        Assert.True(node.Client.IsReachable);
        Assert.Equal(other, node.Client.ServiceEndPoint);
    }

    [Fact]
    public void A_node_that_stood_still_reads_what_its_server_has_said_before_it_asks_others()
    {
        var other = Lead(2);
        var standby = StandBy(other);
        var node = Admitted(FakeCluster.EndPoint, standby.LocalEndPoint);
        for (int i = 0; i < 3; i++)
        {
            node.Environment.Pause();
            _cluster.Run(1.8);
            node.Environment.Resume();
            _cluster.Run(1);
        }

        Assert.Equal(FakeCluster.EndPoint, node.Client.ServiceEndPoint);
        Assert.Equal(1, node.Client.Counters.ServiceConnections);
    }

    [Fact]
    public void A_node_stays_with_a_server_that_is_slow_and_leads()
    {
        var standby = StandBy(leader: FakeCluster.EndPoint);
        var node = Admitted(FakeCluster.EndPoint, standby.LocalEndPoint);
        _cluster.ServiceEnvironment.Pause();
        _cluster.Run(3.5);
        _cluster.ServiceEnvironment.Resume();
        _cluster.Run(5);
        Assert.Equal(1, node.Client.Counters.ServiceConnections);
    }

    [Fact]
    public void A_node_that_leaves_while_no_server_leads_stays_until_the_next_one_has_notified_the_others()
    {
        var standby = StandBy(leader: null);
        FakeNode[] nodes = [Start(1, FakeCluster.EndPoint, standby.LocalEndPoint), Start(2, FakeCluster.EndPoint, standby.LocalEndPoint)];
        _cluster.World.RunUntil(() => Array.TrueForAll(nodes, static node => node.Nodes.Count == 2));
        _cluster.ServiceEnvironment.Crash();
        _cluster.Run(0.5);
        bool hasLeft = false;
        nodes[1].Client.Leave(() => hasLeft = true);
        _cluster.Run(1);
        Assert.False(hasLeft);
        int before = nodes[0].Changes.Count;
        standby.Leader = Lead(2);
        _cluster.World.RunUntil(() => hasLeft);
        // It came along, and left what the next server had reported.
        Assert.Equal(2, nodes[0].Changes[before].Joined.Length);
        _cluster.World.RunUntil(() => nodes[0].Nodes.Count == 1);
    }

    [Fact]
    public void A_node_that_leaves_while_the_store_gives_no_number_stays_until_the_others_have_been_notified()
    {
        var nodes = StartTwoWithoutNumbers();
        bool hasLeft = false;
        nodes[1].Client.Leave(() => hasLeft = true);
        _cluster.Run(2);
        Assert.False(hasLeft);
        Assert.Equal(2, nodes[0].Nodes.Count);

        _cluster.ServiceEnvironment.Post(new Core.Requests.ActionRequest(_store.Answer));
        _cluster.Run(0.1);
        Assert.True(hasLeft);
        Assert.Single(nodes[0].Nodes);
        Assert.Null(nodes[1].Expelled);
    }

    [Fact]
    public void A_node_that_does_not_hear_that_it_has_left_is_not_taken_for_one_that_was_removed()
    {
        var nodes = StartTwoWithoutNumbers();
        bool hasLeft = false;
        nodes[1].Client.Leave(() => hasLeft = true);
        _cluster.Run(0.1);
        nodes[1].Environment.BreakStreams();
        _cluster.World.RunUntil(() => hasLeft);
        Assert.Null(nodes[1].Expelled);
    }

    [Fact]
    public void A_node_that_leaves_while_no_server_comes_waits_for_a_limited_time()
    {
        var standby = StandBy(leader: null);
        var node = Admitted(FakeCluster.EndPoint, standby.LocalEndPoint);
        _cluster.ServiceEnvironment.Crash();
        _cluster.Run(0.5);
        bool hasLeft = false;
        node.Client.Leave(() => hasLeft = true);
        _cluster.Run(6);
        Assert.True(hasLeft);
    }

    [Fact]
    public void Nodes_that_come_one_by_one_are_waited_for_while_they_come()
    {
        var gathering = new Gathering(TimeSpan.FromSeconds(2));
        var origin = new Origin(7, 1);
        Assert.True(gathering.Begin(TimeSpan.Zero));
        gathering.OnReturned(origin, 3, TimeSpan.FromSeconds(1.9));
        Assert.True(gathering.IsOn(TimeSpan.FromSeconds(2.8)));
        gathering.OnReturned(origin, 3, TimeSpan.FromSeconds(2.8));
        Assert.True(gathering.IsOn(TimeSpan.FromSeconds(3.7)));
        gathering.OnReturned(origin, 3, TimeSpan.FromSeconds(3.7));
        Assert.False(gathering.IsOn(TimeSpan.FromSeconds(3.7)));
    }

    [Fact]
    public void Nodes_that_never_end_to_come_are_waited_for_within_a_budget()
    {
        var gathering = new Gathering(TimeSpan.FromSeconds(2));
        gathering.Begin(TimeSpan.Zero);
        var now = TimeSpan.Zero;
        for (; gathering.IsOn(now) && now < TimeSpan.FromMinutes(1); now += TimeSpan.FromSeconds(0.5))
        {
            gathering.OnReturned(new Origin(7, 1), 1000, now);
        }

        Assert.InRange(now, TimeSpan.FromSeconds(5), TimeSpan.FromSeconds(6.5));
    }

    // Both are members, and from now on the store answers no claim.
    private FakeNode[] StartTwoWithoutNumbers()
    {
        FakeNode[] nodes = [Start(1, FakeCluster.EndPoint, Nobody), Start(2, FakeCluster.EndPoint, Nobody)];
        _cluster.World.RunUntil(() => Array.TrueForAll(nodes, static node => node.Nodes.Count == 2));
        _store.Answers = false;
        return nodes;
    }

    // Both are members, and wait for a configuration of the first server when that stands still. They are members of the other one since.
    private (FakeNode[] Nodes, (FakeEnvironment Environment, IPEndPoint LocalEndPoint) Other) StartTwoThatChangedServers()
    {
        var other = LeadAt(2);
        FakeNode[] nodes = [Start(1, FakeCluster.EndPoint, other.LocalEndPoint), Start(2, FakeCluster.EndPoint, other.LocalEndPoint)];
        _cluster.World.RunUntil(() => Array.TrueForAll(nodes, static node => node.Nodes.Count == 2));
        _store.Answers = false;
        nodes[1].Subscribe("A");
        _cluster.Run(0.2);
        _cluster.ServiceEnvironment.Pause();
        _cluster.World.RunUntil(() => Array.TrueForAll(
            nodes, node => node.Client.ServiceEndPoint!.Equals(other.LocalEndPoint) && node.Nodes.Count == 2) && nodes[1].Has("A"));
        return (nodes, other);
    }

    private void WakeInTheMiddleOfAConfiguration()
    {
        long made = _cluster.Counters.Configurations;
        _cluster.ServiceEnvironment.Post(new Core.Requests.ActionRequest(() =>
        {
            _store.Answer();
            (_store.IsHeld, _store.Answers) = (false, false);
            Assert.Equal(made + 1, _cluster.Counters.Configurations);
        }));
        _cluster.ServiceEnvironment.Resume();
        _cluster.Run(5);
        Assert.Equal(made + 1, _cluster.Counters.Configurations);
    }

    private IPEndPoint Nobody => new(_cluster.World.AddNode(++_seed).LocalAddress, 7401);

    // A node that tries to come in tries all servers.
    private FakeNode Start(ulong id, params IPEndPoint[] servers)
    {
        var environment = _cluster.World.AddNode(id);
        var node = new FakeNode(environment, new MembershipClientOptions
        {
            Self = new NodeKey(id, 1),
            EndPoint = new IPEndPoint(environment.LocalAddress, 5000),
            Services = [.. servers],
            Hosted = _cluster.Options,
        });
        node.Client.Start();
        return node;
    }

    // A node that one of the servers has taken in, alone.
    private FakeNode Admitted(params IPEndPoint[] servers)
    {
        var node = Start(1, servers);
        _cluster.World.RunUntil(() => node.Nodes.Count == 1);
        return node;
    }

    // Another server that leads.
    private IPEndPoint Lead(ulong id) => LeadAt(id).LocalEndPoint;

    private (FakeEnvironment Environment, IPEndPoint LocalEndPoint) LeadAt(ulong id)
    {
        var environment = _cluster.World.AddNode(900 + id);
        var service = new MembershipService(
            environment, _cluster.Options, new MemoryMembershipStore(), new ServiceCounters(), NullLogger.Instance);
        return (environment, service.Start(new IPEndPoint(environment.LocalAddress, 7401)));
    }

    private Standby StandBy(IPEndPoint? leader) =>
        StandbyTests.StandBy(_cluster, ++_seed, leader, new Refusals(_counters, _audit));
}
