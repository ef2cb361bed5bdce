using System.Net;
using Microsoft.Extensions.Logging;
using QuickSilver.Core.Tests.Infrastructure;
using QuickSilver.Membership.Client;
using QuickSilver.Membership.Client.Discovery;
using QuickSilver.Membership.Client.Hosting;
using QuickSilver.Membership.Client.Watching;
using QuickSilver.Membership.Protocol;
using QuickSilver.Membership.Service;
using QuickSilver.Membership.Tests.Infrastructure;

namespace QuickSilver.Membership.Tests.Client.Hosting;

// T3, with certificates: nothing authenticates datagrams, so what they say of hosts is a hint, and hosts prove how they stand over streams.
public sealed class HostProofTests
{
    private const int NotProved = 1312;
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
    public void A_node_joins_although_each_question_is_answered_by_one_that_lies_again()
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

    [Fact]
    public void An_observer_finds_the_service_although_others_answer_sooner_with_addresses_where_there_is_none()
    {
        var stranger = new Stranger(_world) { Answers = 3 };
        int port = 0;
        stranger.WhenAsked = question => Answer(question, Best, new IPEndPoint(stranger.Address, 1 + port++ % 3));
        var first = Start(1);
        _world.RunUntil(() => first.Nodes.Count == 1, limitSeconds: 120);
        var observer = new FakeObserver(_world, [], seed: 78, discovery: new DiscoveryOptions { Keys = static () => [] }).Ask();
        _world.RunUntil(() => observer.Answers.Count > 0);
        Assert.Null(observer.Ended);
        Assert.Single(observer.Last.Nodes);
    }

    [Fact]
    public void An_observer_that_finds_no_service_says_what_the_last_address_lacked()
    {
        var stranger = new Stranger(_world);
        stranger.WhenAsked = question => Answer(question, Best, new IPEndPoint(stranger.Address, 9));
        var observer = new FakeObserver(_world, [], seed: 78, discovery: new DiscoveryOptions { Keys = static () => [] }).Ask();
        Run(ClusterObserver.Patience.TotalSeconds + 1);
        Assert.StartsWith($"Cannot connect to a membership service at {stranger.Address}:9: ", observer.Ended);
    }

    [Fact]
    public void A_host_connects_and_logs_at_a_limited_rate_however_many_hosts_are_forged()
    {
        const int Seconds = 60;
        int port = 1;
        var logs = new LogRecorder();
        var first = Start(1, logger: logs);
        _world.RunUntil(() => first.Nodes.Count == 1);
        var stranger = new Stranger(_world) { Answers = 100 };
        stranger.WhenAsked = question => Answer(question, Best, new IPEndPoint(stranger.Address, port++));
        int before = first.Environment.Connected.Count;
        Run(Seconds);
        int connections = first.Environment.Connected.Count - before;
        Assert.InRange(connections, HostProofs.Most + 1, HostProofs.Most + (int)(Seconds * HostProofs.PerSecond) + 1);
        Assert.True(port > connections);
        Assert.InRange(logs.Entries.Count(static entry => entry.Id == NotProved), 1, 20);
        Assert.Equal(0, first.Client.Counters.HostsYielded);
    }

    [Fact]
    public void A_host_that_has_just_failed_to_prove_itself_is_not_asked_again()
    {
        var first = Start(1);
        _world.RunUntil(() => first.Nodes.Count == 1);
        var stranger = new Stranger(_world) { Answers = 10 };
        var nobody = new IPEndPoint(stranger.Address, 9);
        stranger.WhenAsked = question => Answer(question, Best, nobody);
        Run(30);
        Assert.InRange(first.Environment.Connected.Count(one => one.Equals(nobody)), 2, 1 + (int)(30 / RecentFailures.Memory.TotalSeconds));
    }

    [Fact]
    public void Of_two_hosts_that_meet_one_yields_although_many_are_forged_that_take_connections_and_say_nothing()
    {
        const int Pits = 200;
        int next = 0;
        var nodes = new[] { Start(1), Start(2), Start(3) };
        Part(nodes);
        var stranger = new Stranger(_world) { Answers = 50 };
        for (int i = 1; i <= Pits; i++)
        {
            stranger.ListenInSilence(i);
        }

        stranger.WhenAsked = question => Answer(question, Best, new IPEndPoint(stranger.Address, 1 + next++ % Pits));
        Run(10);
        Assert.Equal(2, Hosts(nodes).Length);
        _world.IsBlocked = (_, _) => false;
        _world.RunUntil(() => nodes.All(static node => node.Nodes.Count == 3), limitSeconds: 300);
        Assert.Single(Hosts(nodes));
    }

    [Fact]
    public void Of_two_hosts_that_meet_one_yields_although_others_watch_and_leave_no_place()
    {
        var nodes = new[] { Start(1), Start(2), Start(3) };
        Part(nodes);
        var hosts = Hosts(nodes);
        Assert.Equal(2, hosts.Length);
        ulong seed = 800;
        var watchers = new List<FakeObserver>();
        foreach (var host in hosts)
        {
            for (int i = 0; i <= new SessionLimits().MaxObservers; i++)
            {
                watchers.Add(new FakeObserver(_world, host.Client.HostedAt, seed: seed++) { AsksOn = true }.Ask());
            }
        }

        Run(1);
        Assert.Equal(hosts.Length, watchers.Count(static watcher => watcher.IsRefused));
        _world.IsBlocked = (_, _) => false;
        _world.RunUntil(() => nodes.All(static node => node.Nodes.Count == 3), limitSeconds: 20);
        Assert.Single(Hosts(nodes));
    }

    [Fact]
    public void A_node_that_never_hosts_joins_although_each_question_is_answered_before_by_more_lies_than_it_tries()
    {
        int port = 1;
        var stranger = new Stranger(_world) { Answers = 3 * HostCandidates.Most };
        var first = Start(1);
        _world.RunUntil(() => first.Nodes.Count == 1, limitSeconds: 120);
        stranger.WhenAsked = question => Answer(question, Best, new IPEndPoint(stranger.Address, port++));
        var second = Start(2, hosts: false);
        _world.RunUntil(() => second.Nodes.Count == 2, limitSeconds: 600);
        Assert.True(port > HostCandidates.Most);
    }

    // Nodes 1 and 2 on one side, and 3 on the other, each side with a host.
    private void Part(FakeNode[] nodes)
    {
        bool IsThird(FakeEnvironment one) => one == nodes[2].Environment;
        _world.IsBlocked = (from, to) => from != to && nodes.Any(node => node.Environment == from)
            && nodes.Any(node => node.Environment == to) && (IsThird(from) || IsThird(to));
        Run(3);
    }

    private static DiscoveryDatagram Answer(DiscoveryDatagram question, HostStanding standing, IPEndPoint endPoint) =>
        question with { Kind = DiscoveryKind.Answer, Host = standing, EndPoint = endPoint };

    private static FakeNode[] Hosts(params FakeNode[] nodes) => [.. nodes.Where(static node => node.Client.HostedService is not null)];

    private FakeNode Start(ulong id, bool hosts = true, ILogger? logger = null)
    {
        var environment = _world.AddNode(id * 7919);
        var node = new FakeNode(environment, new MembershipClientOptions
        {
            Self = new(id, 1),
            EndPoint = new IPEndPoint(environment.LocalAddress, 5000),
            Discovery = new DiscoveryOptions { Keys = static () => [], Hosts = hosts },
        }, logger);
        node.Client.Start();
        return node;
    }

    private void Run(double seconds) => _world.Run(TimeSpan.FromSeconds(seconds));
}
