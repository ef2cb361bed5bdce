using System.Net;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Membership.Client;
using QuickSilver.Membership.Tests.Infrastructure;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Tests.Client.Hosting;

// F19, F25; I19, I22: a host, or a member, that datagrams reach and streams do not, and a node whose address is gone, stop no other node.
public sealed class HostReachTests
{
    private const double Ready = 15;
    // What is left of the start of a node by default, when it has a service.
    private const double StartTime = 9.5;

    private readonly FakeWorld _world = new();

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void When_no_stream_reaches_the_host_the_others_continue_with_another_one(bool isOneWay)
    {
        var nodes = StartNodes(4);
        var (host, others) = (nodes[0], nodes[1..]);
        Assert.Equal([host], Hosts(nodes));
        Array.ForEach(nodes, node => node.Subscribe("A"));
        Run(1);

        _world.IsStreamBlocked = isOneWay
            ? (from, to) => from != to && to == host.Environment
            : (from, to) => from != to && (from == host.Environment || to == host.Environment);
        _world.RunUntil(() => others.All(node => node.Client.IsReachable && node.Nodes.Count == others.Length), Ready);
        Assert.Single(Hosts(others));
        var late = Start(5);
        _world.RunUntil(() => late.Nodes.Count == others.Length + 1, Ready);

        Run(60);
        Assert.All(others, node => Assert.Equal(others.Length + 1, node.Nodes.Count));
        Assert.All(nodes, node => Assert.Null(node.Expelled ?? node.GaveUp));
        Assert.Equal([host], Hosts(nodes).Except(Hosts(others)));

        _world.IsStreamBlocked = (_, _) => false;
        _world.RunUntil(() => nodes.All(node => node.Nodes.Count == 5), limitSeconds: 45);
        Run(10);
        Assert.Single(Hosts([.. nodes, late]));
        Assert.All(nodes, node => Assert.Equal([[1, 2, 3, 4]], node.MembersOf("A")));
        Assert.Null(host.Client.Trouble);
    }

    // With security, an attempt to connect has as long as a handshake may take.
    [Theory]
    [InlineData(1, 0, 2)]
    [InlineData(1, 0, 5)]
    [InlineData(3, 0, 2)]
    [InlineData(3, 0, 5)]
    [InlineData(3, 1, 5)]
    [InlineData(3, 3, 5)]
    [InlineData(3, 6, 5)]
    public void A_program_that_starts_after_the_cut_has_a_service_within_its_time(int count, double secondsAfterCut, double connectSeconds)
    {
        var nodes = StartNodes(count, connectSeconds);
        Run(1);
        Cut(nodes[0]);
        var cutAt = _world.Now;
        Run(secondsAfterCut);
        FakeNode[] late = [Start(8, connectSeconds), Start(9, connectSeconds)];
        _world.RunUntil(() => late.All(static node => node.Client.IsReachable), StartTime);
        FakeNode[] others = [.. nodes[1..], .. late];
        _world.RunUntil(() => others.All(node => node.Nodes.Count == others.Length), Ready - (_world.Now - cutAt).TotalSeconds);
        Run(60);
        Assert.Single(Hosts(others));
        Assert.All(others, node => Assert.Equal(others.Length, node.Nodes.Count));
    }

    [Fact]
    public void A_program_that_never_hosts_has_the_next_service_within_its_time()
    {
        var nodes = StartNodes(3, connectSeconds: 5);
        Cut(nodes[0]);
        var late = Start(9, connectSeconds: 5, hosts: false);
        _world.RunUntil(() => late.Client.IsReachable, StartTime);
        Assert.Null(late.Client.HostedService);
    }

    // A busy host, or a connection that comes late: more hosts would make it worse.
    [Theory]
    [InlineData(3, 5)]
    [InlineData(7, 5)]
    [InlineData(7, 2)]
    public void A_host_that_a_program_reaches_before_the_limit_stays_the_only_one(double seconds, double connectSeconds)
    {
        var nodes = StartNodes(2);
        var late = Start(9, connectSeconds);
        _world.IsStreamBlocked = (from, to) => from == late.Environment && to == nodes[0].Environment;
        Run(seconds);
        _world.IsStreamBlocked = (_, _) => false;
        _world.RunUntil(() => late.Client.IsReachable, limitSeconds: 3);
        Assert.Equal(1, nodes.Append(late).Sum(static node => node.Client.Counters.ServicesHosted));
    }

    // What a program could not hear is no failure of the host's.
    [Fact]
    public void A_program_that_stood_still_while_it_connected_has_the_host_that_it_found()
    {
        var nodes = StartNodes(2);
        var late = Start(9, connectSeconds: 5);
        _world.IsStreamBlocked = (from, to) => from == late.Environment && to == nodes[0].Environment;
        Run(1.5);
        late.Environment.Pause();
        Run(20);
        late.Environment.Resume();
        Run(1);
        _world.IsStreamBlocked = (_, _) => false;
        _world.RunUntil(() => late.Client.IsReachable, limitSeconds: 3);
        Assert.Equal(1, nodes.Append(late).Sum(static node => node.Client.Counters.ServicesHosted));
    }

    [Fact]
    public void Of_two_hosts_that_no_stream_connects_each_says_so()
    {
        var nodes = StartNodes(3);
        _world.IsStreamBlocked = (from, to) => from != to && (from == nodes[0].Environment || to == nodes[0].Environment);
        _world.RunUntil(() => Hosts(nodes).Length == 2, Ready);
        _world.RunUntil(() => Hosts(nodes).Any(node => node.Client.Trouble is { Kind: TroubleKind.HostNotReached }), Ready);
        var trouble = Hosts(nodes).Select(static node => node.Client.Trouble).First(static one => one is not null);
        Assert.Contains("this node cannot connect to it", trouble!.Description, StringComparison.Ordinal);
    }

    // Both hosts answer each observer, in an order of chance.
    [Fact]
    public void An_observer_finds_the_host_that_streams_reach_although_another_one_answers_first()
    {
        var nodes = StartNodes(3);
        _world.IsStreamBlocked = (from, to) => from != to && (from == nodes[0].Environment || to == nodes[0].Environment);
        _world.RunUntil(() => Hosts(nodes).Length == 2, Ready);
        FakeObserver[] observers = [.. Enumerable.Range(70, 16).Select(seed => new FakeObserver(_world, [], seed: (ulong)seed))];
        foreach (var observer in observers)
        {
            observer.Ask();
            _world.RunUntil(() => observer.Answers.Count > 0 || observer.Ended is not null);
            Assert.Null(observer.Ended);
            observer.Observer.Dispose();
        }
    }

    [Fact]
    public void A_member_that_no_stream_reaches_leaves_the_others_as_they_are()
    {
        var nodes = StartNodes(4);
        var (cut, others) = (nodes[3], nodes[..3]);
        Array.ForEach(nodes, node => node.Subscribe("A"));
        Run(1);
        _world.IsStreamBlocked = (from, to) => from != to && (from == cut.Environment || to == cut.Environment);
        _world.RunUntil(() => others.All(static node => node.Nodes.Count == 3), Ready);
        Run(60);
        Assert.Equal([nodes[0]], Hosts(others));
        Assert.All(others, static node => Assert.Equal([[1, 2, 3]], node.MembersOf("A")));
        _world.IsStreamBlocked = (_, _) => false;
        _world.RunUntil(() => nodes.All(static node => node.Nodes.Count == 4), limitSeconds: 45);
    }

    [Fact]
    public void A_host_whose_address_is_gone_ends_and_the_others_continue()
    {
        var nodes = StartNodes(3);
        var (host, others) = (nodes[0], nodes[1..]);
        Run(1);
        host.Environment.HasLocalAddress = false;
        _world.IsBlocked = (from, to) => from != to && (from == host.Environment || to == host.Environment);
        _world.RunUntil(() => host.GaveUp is not null, limitSeconds: 10);
        Assert.Contains($"{host.Environment.LocalAddress}", host.GaveUp, StringComparison.Ordinal);
        _world.RunUntil(() => host.Client.HostedService is null, limitSeconds: 1);
        _world.RunUntil(() => others.All(static node => node.Client.IsReachable && node.Nodes.Count == 2), Ready);
    }

    [Fact]
    public void A_node_whose_address_comes_back_within_the_limit_continues()
    {
        var nodes = StartNodes(2);
        nodes[1].Environment.HasLocalAddress = false;
        Run(6);
        Assert.Equal(TroubleKind.AddressLost, nodes[1].Client.Isolation?.Kind);
        nodes[1].Environment.HasLocalAddress = true;
        Run(30);
        Assert.Null(nodes[1].GaveUp);
        Assert.Null(nodes[1].Client.Isolation);
        Assert.All(nodes, static node => Assert.Equal(2, node.Nodes.Count));
    }

    private void Cut(FakeNode host) =>
        _world.IsStreamBlocked = (from, to) => from != to && (from == host.Environment || to == host.Environment);

    private FakeNode Start(ulong id, double connectSeconds = 2, bool hosts = true)
    {
        var environment = _world.AddNode(id * 7919 + 1);
        var options = new MembershipClientOptions
        {
            Self = new NodeKey(id, 1),
            EndPoint = new IPEndPoint(environment.LocalAddress, 5000),
            Discovery = new DiscoveryOptions { Hosts = hosts },
            ConnectTimeout = TimeSpan.FromSeconds(connectSeconds),
        };
        var node = new FakeNode(environment, options, configurations: _world.Configurations);
        node.Client.Start();
        return node;
    }

    private FakeNode[] StartNodes(int count, double connectSeconds = 2)
    {
        var nodes = new List<FakeNode> { Start(1, connectSeconds) };
        _world.RunUntil(() => nodes[0].Nodes.Count == 1, limitSeconds: 2);
        nodes.AddRange(Enumerable.Range(2, count - 1).Select(id => Start((ulong)id, connectSeconds)));
        _world.RunUntil(() => nodes.TrueForAll(node => node.Nodes.Count == count), limitSeconds: 10);
        return [.. nodes];
    }

    private static FakeNode[] Hosts(FakeNode[] among) => [.. among.Where(static node => node.Client.HostedService is not null)];

    private void Run(double seconds) => _world.Run(TimeSpan.FromSeconds(seconds));
}
