using QuickSilver.Core.Diagnostics;
using QuickSilver.Membership.Tests.Infrastructure;

namespace QuickSilver.Membership.Tests;

// F19, F25; I19, I22: a host, or a member, that datagrams reach and streams do not, and a node whose address is gone, stop nobody else.
public sealed class HostReachTests
{
    private const double Ready = 15;

    private readonly FakeWorld _world = new();

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void When_no_stream_reaches_the_host_the_others_go_on_with_another_one(bool isOneWay)
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

    [Fact]
    public void Of_two_hosts_that_no_stream_connects_each_says_so()
    {
        var nodes = StartNodes(3);
        _world.IsStreamBlocked = (from, to) => from != to && (from == nodes[0].Environment || to == nodes[0].Environment);
        _world.RunUntil(() => Hosts(nodes).Length == 2, Ready);
        _world.RunUntil(() => Hosts(nodes).Any(node => node.Client.Trouble is { Kind: TroubleKind.HostNotReached }), Ready);
        var trouble = Hosts(nodes).Select(static node => node.Client.Trouble).First(static one => one is not null);
        Assert.Contains("this node cannot connect to it", trouble!.What, StringComparison.Ordinal);
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
    public void A_host_whose_address_is_gone_ends_and_the_others_go_on()
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
    public void A_node_whose_address_comes_back_within_the_limit_goes_on()
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

    private FakeNode Start(ulong id) => FakeNode.Start(_world, id, service: null);

    private FakeNode[] StartNodes(int count)
    {
        var nodes = new List<FakeNode> { Start(1) };
        _world.RunUntil(() => nodes[0].Nodes.Count == 1, limitSeconds: 2);
        nodes.AddRange(Enumerable.Range(2, count - 1).Select(id => Start((ulong)id)));
        _world.RunUntil(() => nodes.TrueForAll(node => node.Nodes.Count == count), limitSeconds: 10);
        return [.. nodes];
    }

    private static FakeNode[] Hosts(FakeNode[] among) => [.. among.Where(static node => node.Client.HostedService is not null)];

    private void Run(double seconds) => _world.Run(TimeSpan.FromSeconds(seconds));
}
