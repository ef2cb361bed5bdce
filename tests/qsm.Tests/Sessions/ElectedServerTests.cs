using System.Net;
using QuickSilver.Core.Tests.Infrastructure;
using QuickSilver.Membership.Client;
using QuickSilver.Membership.Diagnostics;
using QuickSilver.Membership.Service;
using QuickSilver.Membership.Service.Sessions;
using QuickSilver.Membership.Tests.Infrastructure;
using QuickSilver.Membership.Views;
using QuickSilver.Tool.Sessions;

namespace QuickSilver.Tool.Tests.Sessions;

// F4, F14: one of several servers, whom the system lets listen or not.
public sealed class ElectedServerTests
{
    private const int CannotLead = 3007;
    private const int CannotStandBy = 3008;

    private readonly FakeWorld _world = new();
    private readonly LogRecorder _logs = new();
    private readonly List<string> _givenUp = [];
    private readonly MembershipServiceOptions _options = new();
    private readonly FakeEnvironment _environment;
    private readonly ElectedServer _server;

    public ElectedServerTests() => (_environment, _server) = StandBy();

    [Fact]
    public void A_server_that_is_elected_takes_nodes_in()
    {
        Lead(_server);
        var node = Start(1, _server);
        _world.RunUntil(() => node.Nodes.Count == 1);
        Assert.True(_server.CanLead);
        Assert.Empty(_givenUp);
    }

    [Fact]
    public void A_server_that_cannot_listen_gives_its_term_up_and_says_what_to_do()
    {
        _environment.AllowsListeners = false;
        Lead(_server);
        Assert.Equal($"it cannot listen on {_server.LocalEndPoint}", Assert.Single(_givenUp));
        Assert.False(_server.CanLead);
        Assert.Contains("give this server a port", _logs.TextOf(CannotLead));
    }

    [Fact]
    public void Nodes_of_a_server_that_cannot_listen_join_the_one_that_leads_in_its_place()
    {
        var (_, other) = StandBy();
        var node = Start(1, _server, other);
        _environment.AllowsListeners = false;
        Lead(_server);
        Run(0.5);
        _server.OnDeposed();
        Lead(other);
        _world.RunUntil(() => node.Nodes.Count == 1);
        Assert.Equal(other.LocalEndPoint, node.Client.ServiceEndPoint);
    }

    [Fact]
    public void A_server_that_could_not_listen_stands_by_again_when_it_can_and_may_lead()
    {
        _environment.AllowsListeners = false;
        Lead(_server);
        _server.OnDeposed();
        Run(30);
        Assert.False(_server.CanLead);
        Assert.InRange(_logs.Entries.Count(static entry => entry.Id == CannotStandBy), 1, 10);
        var (_, other) = StandBy();
        Lead(other);
        _server.Leader = other.LocalEndPoint;

        _environment.AllowsListeners = true;
        Run(2);
        Assert.True(_server.CanLead);
        // Through this server, which names the leader.
        var node = Start(1, _server);
        _world.RunUntil(() => node.Nodes.Count == 1);
        Assert.Equal(other.LocalEndPoint, node.Client.ServiceEndPoint);
        Lead(_server);
        var second = Start(2, _server);
        _world.RunUntil(() => second.Nodes.Count == 1);
        Assert.Equal(_server.LocalEndPoint, second.Client.ServiceEndPoint);
    }

    [Fact]
    public void A_server_that_is_deposed_and_cannot_listen_does_not_stand_for_leader()
    {
        Lead(_server);
        _environment.AllowsListeners = false;
        _server.OnDeposed();
        Assert.False(_server.CanLead);
        _environment.AllowsListeners = true;
        Run(2);
        Assert.True(_server.CanLead);
    }

    [Fact]
    public void A_server_that_has_ended_listens_no_more()
    {
        _environment.AllowsListeners = false;
        Lead(_server);
        _server.Dispose();
        _environment.AllowsListeners = true;
        Run(5);
        Assert.Empty(_world.Listeners);
    }

    private (FakeEnvironment Environment, ElectedServer Server) StandBy()
    {
        var environment = _world.AddNode((ulong)(700 + _world.Nodes.Count));
        var refusals = new Refusals(new ServiceCounters(), _logs);
        var listen = new IPEndPoint(environment.LocalAddress, 7401);
        return (environment, new ElectedServer(environment, _options, refusals, _logs, listen));
    }

    private void Lead(ElectedServer server) => server.Lead(new LeasedStore(), _givenUp.Add);

    private FakeNode Start(ulong id, params ElectedServer[] servers)
    {
        var environment = _world.AddNode(id);
        var node = new FakeNode(environment, new MembershipClientOptions
        {
            Self = new NodeKey(id, 1),
            EndPoint = new IPEndPoint(environment.LocalAddress, 5000),
            Services = [.. servers.Select(static server => server.LocalEndPoint)],
            Hosted = _options,
        });
        node.Client.Start();
        return node;
    }

    private void Run(double seconds) => _world.Run(TimeSpan.FromSeconds(seconds));
}
