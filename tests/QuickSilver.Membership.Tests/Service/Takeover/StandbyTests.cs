using System.Net;
using Microsoft.Extensions.Logging.Abstractions;
using QuickSilver.Core.Tests.Infrastructure;
using QuickSilver.Core.Transport;
using QuickSilver.Membership.Diagnostics;
using QuickSilver.Membership.Service;
using QuickSilver.Membership.Service.Sessions;
using QuickSilver.Membership.Service.Stores;
using QuickSilver.Membership.Tests.Infrastructure;

namespace QuickSilver.Membership.Tests.Service.Takeover;

// A server that stands by: what it answers to observers and nodes, and what it refuses.
public sealed class StandbyTests
{
    private readonly FakeCluster _cluster = new(store: new LeasedStore());
    private readonly ServiceCounters _counters = new();
    private readonly LogRecorder _audit = new();
    private ulong _seed = 700;

    [Fact]
    public void An_observer_is_sent_to_the_server_that_leads_and_tries_the_others_when_one_does_not_answer()
    {
        _cluster.AddNodes(2);
        var nobody = new IPEndPoint(_cluster.World.AddNode(99).LocalAddress, 7401);
        var standby = StandBy(leader: FakeCluster.EndPoint);
        var sent = new FakeObserver(_cluster.World, [standby.LocalEndPoint], seed: 601).Ask();
        var tries = new FakeObserver(_cluster.World, [nobody, standby.LocalEndPoint], seed: 602).Ask();
        _cluster.Run(8);
        Assert.Equal(2, sent.Last.Nodes.Count);
        Assert.Equal(2, tries.Last.Nodes.Count);
    }

    [Fact]
    public void An_observer_gives_up_where_each_server_names_another()
    {
        var one = StandBy(leader: null);
        var other = StandBy(leader: one.LocalEndPoint);
        one.Leader = other.LocalEndPoint;
        var observer = new FakeObserver(_cluster.World, [one.LocalEndPoint, other.LocalEndPoint]).Ask();
        _cluster.Run(30);
        Assert.Contains("does not lead", observer.Ended);
        Assert.True(observer.Observer.IsWithoutLeader);
    }

    [Fact]
    public void An_observer_distinguishes_servers_that_stand_by_from_servers_that_do_not_answer()
    {
        _cluster.AddNodes(1);
        var nobody = new IPEndPoint(_cluster.World.AddNode(99).LocalAddress, 7401);
        var standby = StandBy(leader: null);
        var idle = new FakeObserver(_cluster.World, [standby.LocalEndPoint], seed: 603).Ask();
        var lost = new FakeObserver(_cluster.World, [nobody], seed: 604).Ask();
        var well = new FakeObserver(_cluster.World, [StandBy(FakeCluster.EndPoint).LocalEndPoint], seed: 605).Ask();
        _cluster.Run(30);
        Assert.True(idle.Observer.IsWithoutLeader);
        Assert.NotNull(lost.Ended);
        Assert.False(lost.Observer.IsWithoutLeader);
        Assert.Single(well.Last.Nodes);
        Assert.False(well.Observer.IsWithoutLeader);
    }

    [Fact]
    public void One_machine_does_not_take_all_places_of_a_server_that_stands_by()
    {
        var limits = new SessionLimits { MaxSessions = 8, MaxSessionsPerAddress = 2 };
        var standby = StandBy(leader: FakeCluster.EndPoint, limits);
        var one = _cluster.World.AddNode(801);
        var crowd = Enumerable.Range(0, 5).Select(_ => new RawClient(one, standby.LocalEndPoint)).ToArray();
        var other = new RawClient(_cluster.World.AddNode(802), standby.LocalEndPoint);
        _cluster.Run(0.1);
        Assert.Equal(2, crowd.Count(static client => client.Received.Count > 0));
        Assert.NotEmpty(other.Received);
        Assert.Equal(3, _counters.SessionsRefused);
        // A client that has read the answer, or has not, gives its place back.
        _cluster.Run(2);
        var next = new RawClient(one, standby.LocalEndPoint);
        _cluster.Run(0.1);
        Assert.NotEmpty(next.Received);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_server_records_clients_that_do_not_prove_who_they_are_whether_it_leads_or_stands_by(bool leads)
    {
        var options = _cluster.Options with { Audit = _audit };
        var store = new MemoryMembershipStore();
        IControlAcceptor server = leads
            ? new MembershipService(_cluster.World.AddNode(700), options, store, _counters, NullLogger.Instance)
            : StandBy(leader: null);
        var remote = new IPEndPoint(IPAddress.Parse("10.0.0.9"), 5);
        for (int i = 0; i < 1_000; i++)
        {
            server.OnRefused(remote, "it presents no certificate", StreamRefusal.Failed);
        }

        server.OnRefused(remote, "it says nothing", StreamRefusal.Silent);
        server.OnRefused(remote, "there is no room", StreamRefusal.NoRoom);
        server.OnRefused(remote, "it gave way", StreamRefusal.Displaced);
        Assert.Equal((1_000, 1, 1), (_counters.HandshakesFailed, _counters.HandshakesAbandoned, _counters.HandshakesWithoutRoom));
        Assert.Equal(1, _counters.HandshakesDisplaced);
        Assert.Contains("10.0.0.9:5: it presents no certificate", _audit.TextOf(1272));
        Assert.InRange(_audit.Entries.Count, 9, 25);
        Assert.DoesNotContain(_audit.Entries, static entry => entry.Text.Contains("says nothing", StringComparison.Ordinal));
    }

    internal static Standby StandBy(
        FakeCluster cluster, ulong node, IPEndPoint? leader, Refusals refusals, SessionLimits? limits = null)
    {
        var environment = cluster.World.AddNode(node);
        var address = new IPEndPoint(environment.LocalAddress, 7401);
        return new Standby(environment, limits ?? new SessionLimits(), refusals, address) { Leader = leader };
    }

    private Standby StandBy(IPEndPoint? leader, SessionLimits? limits = null) =>
        StandBy(_cluster, ++_seed, leader, new Refusals(_counters, _audit), limits);
}
