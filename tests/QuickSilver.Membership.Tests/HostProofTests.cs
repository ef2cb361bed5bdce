using System.Net;
using QuickSilver.Membership.Client;
using QuickSilver.Membership.Protocol;
using QuickSilver.Membership.Tests.Infrastructure;

namespace QuickSilver.Membership.Tests;

// T3, with certificates: nothing authenticates datagrams, so what they say of hosts is a hint, and hosts prove how they stand over streams.
public sealed class HostProofTests
{
    private static readonly HostStanding Best = new(ulong.MaxValue, 1_000_000, long.MaxValue);

    private readonly FakeWorld _world = new();

    [Fact]
    public void A_host_does_not_yield_to_an_answer_that_names_no_host()
    {
        var first = Start(1);
        _world.RunUntil(() => first.Nodes.Count == 1);
        var stranger = new Stranger(_world);
        stranger.WhenAsked = question => Answer(question, Best, new IPEndPoint(stranger.Address, 9));
        Run(30);
        Assert.Equal(0, first.Client.Counters.HostsYielded);
        Assert.NotNull(first.Client.HostedService);
        Assert.Single(first.Nodes);
    }

    [Fact]
    public void A_host_does_not_yield_to_itself()
    {
        var first = Start(1);
        _world.RunUntil(() => first.Nodes.Count == 1);
        var stranger = new Stranger(_world);
        stranger.WhenAsked = question => Answer(question, Best, first.Client.HostedAt!);
        Run(30);
        Assert.Equal(0, first.Client.Counters.HostsYielded);
        Assert.Single(first.Nodes);
    }

    [Fact]
    public void Of_two_hosts_that_meet_one_yields_whatever_is_forged_meanwhile()
    {
        var nodes = new[] { Start(1), Start(2), Start(3) };
        _world.IsBlocked = (from, to) => from != to && (IsThird(from) || IsThird(to));
        Run(3);
        Assert.Equal(2, Hosts(nodes).Length);
        var stranger = new Stranger(_world);
        var both = Hosts(nodes).Select(static host => host.Client.HostedAt!).ToArray();
        // To each it says that the other is better.
        stranger.WhenAsked = question => Answer(question, Best, both.First(host => !host.Address.Equals(question.EndPoint.Address)));
        long before = Yields();
        _world.IsBlocked = (_, _) => false;
        _world.RunUntil(() => nodes.All(static node => node.Nodes.Count == 3), limitSeconds: 20);
        Run(20);
        Assert.Single(Hosts(nodes));
        Assert.Equal(before + 1, Yields());
        Assert.All(nodes, static node => Assert.Equal(3, node.Nodes.Count));

        long Yields() => nodes.Sum(static node => node.Client.Counters.HostsYielded);

        bool IsThird(FakeEnvironment one) => one == nodes[2].Environment;
    }

    [Fact]
    public void A_node_joins_although_each_question_is_answered_by_one_that_lies_anew()
    {
        int port = 1;
        var stranger = new Stranger(_world);
        stranger.WhenAsked = question => Answer(question, Best, new IPEndPoint(stranger.Address, port++));
        var first = Start(1);
        _world.RunUntil(() => first.Nodes.Count == 1, limitSeconds: 120);
        var second = Start(2);
        _world.RunUntil(() => second.Nodes.Count == 2, limitSeconds: 120);
        Assert.True(port > 2);
    }

    private static DiscoveryDatagram Answer(DiscoveryDatagram question, HostStanding standing, IPEndPoint endPoint) =>
        question with { Kind = DiscoveryKind.Answer, Host = standing, EndPoint = endPoint };

    private static FakeNode[] Hosts(params FakeNode[] nodes) => [.. nodes.Where(static node => node.Client.HostedService is not null)];

    private FakeNode Start(ulong id)
    {
        var environment = _world.AddNode(id * 7919);
        var node = new FakeNode(environment, new MembershipClientOptions
        {
            Self = new(id, 1),
            EndPoint = new IPEndPoint(environment.LocalAddress, 5000),
            Discovery = new DiscoveryOptions { Keys = static () => [] },
        });
        node.Client.Start();
        return node;
    }

    private void Run(double seconds) => _world.Run(TimeSpan.FromSeconds(seconds));
}
