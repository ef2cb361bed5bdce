using System.Net;
using FsCheck;
using FsCheck.Fluent;
using QuickSilver.Core.Transport;
using QuickSilver.Membership.Client;
using QuickSilver.Membership.Client.Discovery;
using QuickSilver.Membership.Contracts;
using QuickSilver.Membership.Protocol;
using QuickSilver.Membership.Tests.Infrastructure;

namespace QuickSilver.Membership.Tests.Client.Hosting;

// F3, F4, F5; I7, I19: nodes that know of no service find or host one.
public sealed class EmbeddedTests
{
    private readonly FakeWorld _world = new();

    private FakeNode Start(ulong id) => FakeNode.Start(_world, id, service: null);

    private FakeNode[] StartTogether(int count)
    {
        var nodes = Enumerable.Range(1, count).Select(id => Start((ulong)id)).ToArray();
        _world.RunUntil(() => nodes.All(node => node.Nodes.Count == count), limitSeconds: 10);
        return nodes;
    }

    private static FakeNode[] HostsAmong(params FakeNode[] nodes) => [.. nodes.Where(node => node.Client.HostedService is not null)];

    private void Run(double seconds) => _world.Run(TimeSpan.FromSeconds(seconds));

    [Fact]
    public void A_node_alone_hosts_the_service_and_the_next_finds_it()
    {
        var first = Start(1);
        _world.RunUntil(() => first.Nodes.Count == 1, limitSeconds: 1);
        Assert.NotNull(first.Client.HostedService);
        var second = Start(2);
        _world.RunUntil(() => second.Nodes.Count == 2, limitSeconds: 0.1);
        Assert.Null(second.Client.HostedService);
    }

    [Fact]
    public void Nodes_that_start_in_the_same_moment_end_up_with_one_service()
    {
        var nodes = StartTogether(6);
        Array.ForEach(nodes, node => node.Subscribe("A"));
        Run(8);
        Assert.Single(HostsAmong(nodes));
        Assert.All(nodes, node => Assert.Equal([[1, 2, 3, 4, 5, 6]], node.MembersOf("A")));
        Assert.All(nodes, node => Assert.Null(node.Expelled));
    }

    // A handshake that was under way when the service ended is over only then.
    [Fact]
    public void A_node_that_comes_to_a_service_that_has_just_yielded_hears_where_the_other_one_is()
    {
        var cluster = new FakeCluster();
        IControlAcceptor door = cluster.Service;
        cluster.Service.Retire(new IPEndPoint(new IPAddress([10, 0, 0, 8]), 7402));
        cluster.World.Listeners.Add(
            FakeCluster.EndPoint, new FakeListener(cluster.ServiceEnvironment, FakeCluster.EndPoint, door));
        var late = new RawClient(cluster);
        cluster.World.RunUntil(() => late.Received.Count > 0, limitSeconds: 1);
        Assert.Equal([ControlMessageKind.Goodbye], late.Received);
        cluster.World.RunUntil(() => late.IsClosed);

        cluster.Service.Dispose();
        var tooLate = new RawClient(cluster, 98);
        cluster.World.RunUntil(() => tooLate.IsClosed, limitSeconds: 1);
        Assert.Empty(tooLate.Received);
    }

    [Fact]
    public void When_two_hosts_meet_one_yields_and_its_nodes_move()
    {
        var left = Start(1);
        var right = Start(2);
        _world.IsBlocked = (from, to) => from != to;
        Run(1.5);
        Assert.Equal(2, HostsAmong(left, right).Length);
        left.Subscribe("A");
        right.Subscribe("A");
        Run(1);
        _world.IsBlocked = (_, _) => false;
        _world.RunUntil(() => left.Nodes.Count == 2 && right.Nodes.Count == 2, limitSeconds: 15);
        Run(3);
        Assert.Single(HostsAmong(left, right));
        Assert.Equal(1, left.Client.Counters.HostsYielded + right.Client.Counters.HostsYielded);
        Assert.Equal([[1, 2]], left.MembersOf("A"));
        Assert.Equal([[1, 2]], right.MembersOf("A"));
        Assert.Equal(left.Changes[^1].Number, right.Changes[^1].Number);
    }

    [Fact]
    public void When_the_host_dies_the_longest_standing_node_hosts_on()
    {
        var first = Start(1);
        _world.RunUntil(() => first.Nodes.Count == 1);
        var others = new List<FakeNode>();
        for (ulong id = 2; id <= 4; id++)
        {
            others.Add(Start(id));
            _world.RunUntil(() => others[^1].Nodes.Count > 0);
        }

        others.ForEach(node => node.Subscribe("A"));
        first.Open("A", TopicRole.Publish);
        Run(1);
        first.Environment.Crash();
        _world.RunUntil(() => others.All(node => node.Nodes.Count == 3), limitSeconds: 5);
        Assert.Equal([others[0]], HostsAmong([.. others]));
        Assert.All(others, node => Assert.Equal([[2, 3, 4]], node.MembersOf("A")));
        Assert.All(others, node => Assert.Null(node.Expelled));
    }

    [Fact]
    public void When_the_host_leaves_the_others_are_notified_and_continue_without_a_grace_period()
    {
        var first = Start(1);
        _world.RunUntil(() => first.Nodes.Count == 1);
        var second = Start(2);
        var third = Start(3);
        _world.RunUntil(() => first.Nodes.Count == 3 && third.Nodes.Count == 3 && second.Nodes.Count == 3);
        second.Subscribe("A");
        third.Subscribe("A");
        Run(1);
        bool left = false;
        int before = third.Changes.Count;
        first.Client.Leave(() => left = true);
        Run(0.1);
        Assert.True(left);
        Assert.Contains(first.Key, third.Changes[before].Removed);
        first.Client.Dispose();
        _world.RunUntil(() => third.Changes.Exists(change => change.IsSnapshot && change != third.Changes[0]), limitSeconds: 1.5);
        Assert.Equal([[2, 3]], third.MembersOf("A"));
        Assert.Single(HostsAmong(second, third));
    }

    [Fact]
    public void A_cluster_torn_in_two_is_one_again_when_it_heals()
    {
        var nodes = StartTogether(4);
        Array.ForEach(nodes, node => node.Subscribe("A"));
        Run(6);
        var right = nodes.Where(node => HostsAmong(node).Length == 0).Take(2).ToArray();
        bool IsRight(FakeEnvironment environment) => right.Any(node => node.Environment == environment);
        _world.IsBlocked = (from, to) => IsRight(from) != IsRight(to);
        foreach (var node in right)
        {
            node.Environment.BreakStreams();
        }

        Run(20);
        Assert.Equal(2, HostsAmong(nodes).Length);
        Assert.All(right, node => Assert.Equal(2, node.Nodes.Count));
        _world.IsBlocked = (_, _) => false;
        _world.RunUntil(() => nodes.All(node => node.Nodes.Count == 4), limitSeconds: 20);
        Assert.All(nodes, node => Assert.Null(node.Expelled));
        Assert.Single(HostsAmong(nodes));
    }

    [Fact]
    public void Clusters_of_another_name_do_not_hear_each_other()
    {
        var one = Start(1);
        var other = FakeNode.Start(_world, 2, null, new() { Cluster = "other" });
        Run(2);
        Assert.Equal(2, HostsAmong(one, other).Length);
        Assert.Single(one.Nodes);
    }

    [Fact]
    public void A_host_that_may_not_open_the_group_serves_itself_and_tries_again()
    {
        var first = Start(1);
        first.Environment.AllowsGroups = false;
        _world.RunUntil(() => first.Nodes.Count == 1);
        first.Environment.AllowsGroups = true;
        Run(6);
        var second = Start(2);
        _world.RunUntil(() => second.Nodes.Count == 2, limitSeconds: 0.2);
    }

    // However they stand while they meet, of each two only one yields.
    [Fact]
    public void Hosts_that_begin_in_the_same_moment_never_yield_all()
    {
        for (ulong seed = 0; seed < 20; seed++)
        {
            var test = new EmbeddedTests();
            var nodes = Enumerable.Range(1, 12).Select(id => test.Start((ulong)id + (seed * 100))).ToArray();
            test._world.RunUntil(() => nodes.All(node => node.Nodes.Count == 12), limitSeconds: 10);
            test.Run(6);
            long hosted = nodes.Sum(node => node.Client.Counters.ServicesHosted);
            Assert.Equal(1, hosted - nodes.Sum(node => node.Client.Counters.HostsYielded));
            Assert.Equal(1, nodes.Count(node => node.Client.Counters.ServicesHosted > node.Client.Counters.HostsYielded));
            Assert.All(nodes, node => Assert.InRange(node.Client.Counters.ServicesHosted, 0, 1));
        }
    }

    [Fact]
    public void Of_any_two_standings_exactly_one_continues_and_the_order_has_no_circle() =>
        Prop.ForAll(Standings.ListOf(3).ToArbitrary(), list =>
        {
            var (a, b, c) = (list[0] with { Id = 1 }, list[1] with { Id = 2 }, list[2] with { Id = 3 });
            Assert.NotEqual(a.GoesOnBefore(b), b.GoesOnBefore(a));
            Assert.True(!c.GoesOnBefore(b) || !b.GoesOnBefore(a) || c.GoesOnBefore(a));
            Assert.True(!a.GoesOnBefore(b) || !b.GoesOnBefore(c) || a.GoesOnBefore(c));
            Assert.True(a.Members <= b.Members || a.GoesOnBefore(b), "more members continue");
            Assert.True(a.Members != b.Members || a.Configuration <= b.Configuration || a.GoesOnBefore(b), "then the newer configuration");
        }).QuickCheckThrowOnFailure();

    private static Gen<HostStanding> Standings => Gen.Choose(0, 2).SelectMany(members =>
        Gen.Choose(0, 2).Select(configuration => new HostStanding(0, members, configuration)));

    [Fact]
    public void A_host_does_not_yield_to_a_claim_without_an_answer()
    {
        var first = Start(1);
        _world.RunUntil(() => first.Nodes.Count == 1);
        var stranger = new Stranger(_world);
        // An id below and one above all others.
        foreach (ulong id in new[] { 1UL, ulong.MaxValue })
        {
            var standing = new HostStanding(id, 1_000_000, long.MaxValue);
            stranger.Send(kind => new DiscoveryDatagram(kind, DiscoveryDatagram.HashOf("default"), 5, standing, new(stranger.Address, 9)));
            Run(1);
        }

        Assert.Equal(0, first.Client.Counters.HostsYielded);
        Assert.NotNull(first.Client.HostedService);
        Assert.True(stranger.Heard.Count > 0);
    }

    [Fact]
    public void A_host_of_another_version_is_not_followed_and_counted()
    {
        var stranger = new Stranger(_world);
        stranger.WhenAsked = question => question with
        {
            Kind = DiscoveryKind.Answer,
            Version = ControlFrame.ProtocolVersion + 1,
            Host = new HostStanding(ulong.MaxValue, 1_000_000, long.MaxValue),
        };
        var first = Start(1);
        _world.RunUntil(() => first.Nodes.Count == 1, limitSeconds: 1);
        Assert.NotNull(first.Client.HostedService);
        Run(10);
        Assert.Equal(0, first.Client.Counters.HostsYielded);
        Assert.True(first.Client.Counters.OtherVersions > 3);
    }

    [Fact]
    public void Datagrams_that_are_no_discovery_are_counted_and_dropped()
    {
        var first = Start(1);
        _world.RunUntil(() => first.Nodes.Count == 1);
        var options = new DiscoveryOptions();
        var stranger = _world.AddNode(5).OpenPort(new DatagramPortOptions(), new Deaf());
        var group = new DatagramAddress(new(options.Group, options.Port));
        stranger.Send(new byte[3], 3, group);
        stranger.Send(new byte[64], 64, group);
        stranger.Send(new byte[6400], 6400, group);
        long before = first.Client.Counters.QueriesAnswered;
        Run(0.1);
        Assert.Equal(102, first.Client.Counters.ForeignDatagrams);
        Assert.Equal(before, first.Client.Counters.QueriesAnswered);
    }

    [Fact]
    public void The_same_seeds_give_the_same_history()
    {
        static string Play()
        {
            var test = new EmbeddedTests();
            var nodes = test.StartTogether(5);
            Array.ForEach(nodes, node => node.Subscribe("A", $"only {node.Key.Id % 2}"));
            test.Run(3);
            HostsAmong(nodes)[0].Environment.Crash();
            test.Run(8);
            return string.Join('\n', nodes.SelectMany(node => node.Changes).Select(change =>
                $"{change.Number} {string.Join(',', change.Regions)} {string.Join(',', change.Topics.Select(topic => topic.TopicId))}"));
        }

        Assert.Equal(Play(), Play());
    }

    private sealed class Deaf : IDatagramReceiver
    {
        public bool IsControl(ReadOnlySpan<byte> firstBytes) => true;

        public void OnRun(in ReceivedRun run)
        {
        }

        public void OnBatchEnd()
        {
        }
    }
}
