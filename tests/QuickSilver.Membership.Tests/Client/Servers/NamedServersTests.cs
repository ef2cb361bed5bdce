using System.Collections.Immutable;
using System.Net;
using Microsoft.Extensions.Logging.Abstractions;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Tests.Infrastructure;
using QuickSilver.Membership.Client;
using QuickSilver.Membership.Client.Servers;
using QuickSilver.Membership.Diagnostics;
using QuickSilver.Membership.Service;
using QuickSilver.Membership.Service.Stores;
using QuickSilver.Membership.Tests.Infrastructure;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Tests.Client.Servers;

// Servers whose names come to have other addresses.
public sealed class NamedServersTests
{
    private readonly FakeCluster _cluster = new();
    private readonly List<Action<ImmutableArray<IPEndPoint>>> _asked = [];
    private ulong _seed = 800;

    [Fact]
    public void A_node_follows_a_service_whose_name_has_another_address()
    {
        var elsewhere = NewAddress();
        var node = Start(1, completed => completed([elsewhere]));
        _cluster.World.RunUntil(() => node.Client.IsReachable);
        _cluster.ServiceEnvironment.Crash();
        Lead(elsewhere);
        _cluster.World.RunUntil(() => node.Client.IsReachable && elsewhere.Equals(node.Client.ServiceEndPoint), limitSeconds: 10);
    }

    [Theory]
    [InlineData(1, false, false)]
    [InlineData(2, false, true)]
    [InlineData(2, true, false)]
    public void A_node_that_named_several_servers_says_so_if_they_share_nothing(int named, bool isShared, bool isTold)
    {
        using var logs = new LogRecorder();
        var cluster = new FakeCluster(store: new LeasedStore { IsShared = isShared });
        var environment = cluster.World.AddNode(++_seed);
        var node = new FakeNode(environment, new MembershipClientOptions
        {
            Self = new NodeKey(1, 1),
            EndPoint = new IPEndPoint(environment.LocalAddress, 5000),
            Services = [FakeCluster.EndPoint, .. named == 1 ? [] : new[] { new IPEndPoint(FakeCluster.EndPoint.Address, 9) }],
        }, logs);
        node.Client.Start();
        cluster.World.RunUntil(() => node.Client.IsReachable);
        Assert.Equal(isTold ? TroubleKind.ServersApart : null, node.Client.Trouble?.Kind);
        cluster.ServiceEnvironment.BreakStreams();
        cluster.Run(5);
        Assert.True(node.Client.IsReachable);
        Assert.Equal(isTold ? 1 : 0, logs.Entries.Count(static entry => entry.Id == 1317));
    }

    [Fact]
    public void A_node_that_starts_before_its_service_finds_it_where_it_comes_up()
    {
        _cluster.ServiceEnvironment.Crash();
        var elsewhere = NewAddress();
        var node = Start(1, _asked.Add);
        _cluster.Run(60);
        Lead(elsewhere);
        Answer(elsewhere);
        _cluster.World.RunUntil(() => node.Client.IsReachable, limitSeconds: 5);
    }

    [Fact]
    public void Names_are_not_resolved_again_while_a_server_takes_the_node_in()
    {
        var node = Start(1, _asked.Add);
        _cluster.Run(60);
        Assert.True(node.Client.IsReachable);
        _cluster.ServiceEnvironment.BreakStreams();
        _cluster.Run(60);
        Assert.True(node.Client.IsReachable);
        Assert.Empty(_asked);
    }

    [Fact]
    public void A_resolver_that_finds_nothing_takes_no_address_away_and_is_asked_again_at_intervals()
    {
        int asked = 0;
        var node = Start(1, completed =>
        {
            asked++;
            completed([]);
        });
        _cluster.World.RunUntil(() => node.Client.IsReachable);
        _cluster.ServiceEnvironment.Crash();
        _cluster.Run(30);
        Assert.InRange(asked, 2, 30 / NamedServers.Interval.TotalSeconds + 1);
        Assert.Equal("connection refused", node.Client.LastFailure);
        _cluster.StartService();
        _cluster.Run(5);
        Assert.True(node.Client.IsReachable);
    }

    [Fact]
    public void A_resolver_that_does_not_answer_is_asked_once_and_the_known_addresses_are_tried_on()
    {
        var node = Start(1, _asked.Add);
        _cluster.World.RunUntil(() => node.Client.IsReachable);
        _cluster.ServiceEnvironment.Crash();
        _cluster.Run(30);
        Assert.Single(_asked);
        _cluster.StartService();
        _cluster.Run(5);
        Assert.True(node.Client.IsReachable);
    }

    [Fact]
    public void An_answer_that_comes_when_the_service_is_back_changes_no_connection_and_holds_for_the_next_loss()
    {
        var elsewhere = NewAddress();
        var node = Start(1, _asked.Add);
        _cluster.World.RunUntil(() => node.Client.IsReachable);
        _cluster.ServiceEnvironment.Crash();
        _cluster.World.RunUntil(() => _asked.Count == 1);
        _cluster.StartService();
        _cluster.World.RunUntil(() => node.Client.IsReachable);
        long connections = node.Client.Counters.ServiceConnections;
        Answer(elsewhere);
        _cluster.Run(30);
        Assert.True(node.Client.IsReachable);
        Assert.Equal(connections, node.Client.Counters.ServiceConnections);

        _cluster.ServiceEnvironment.Crash();
        Lead(elsewhere);
        _cluster.World.RunUntil(() => node.Client.IsReachable && elsewhere.Equals(node.Client.ServiceEndPoint), limitSeconds: 5);
        Assert.Single(_asked);
    }

    [Fact]
    public void An_answer_that_comes_after_the_node_has_ended_connects_to_no_service()
    {
        var elsewhere = NewAddress();
        var node = Start(1, _asked.Add);
        _cluster.World.RunUntil(() => node.Client.IsReachable);
        _cluster.ServiceEnvironment.Crash();
        _cluster.World.RunUntil(() => _asked.Count == 1);
        node.Client.Dispose();
        var service = Lead(elsewhere);
        Answer(elsewhere);
        _cluster.Run(10);
        Assert.Equal(0, service.MemberCount);
    }

    [Fact]
    public void A_server_that_was_added_to_the_name_is_asked_for_the_leader_when_the_first_one_stands_still()
    {
        var elsewhere = NewAddress();
        var node = Start(1, _asked.Add);
        _cluster.World.RunUntil(() => node.Client.IsReachable);
        _cluster.ServiceEnvironment.Crash();
        _cluster.World.RunUntil(() => _asked.Count == 1);
        Answer(FakeCluster.EndPoint, elsewhere);
        _cluster.StartService();
        _cluster.World.RunUntil(() => node.Client.IsReachable);
        _cluster.ServiceEnvironment.Pause();
        Lead(elsewhere);
        _cluster.Run(4);
        Assert.True(node.Client.IsReachable);
        Assert.Equal(elsewhere, node.Client.ServiceEndPoint);
    }

    [Fact]
    public void Addresses_that_stay_keep_their_order_and_a_new_one_is_tried_first()
    {
        var servers = Servers(1, 2, 3);
        servers.OnAllFailed(TimeSpan.Zero);
        Answer([.. new[] { 4, 3, 5, 1, 4 }.Select(At)]);
        Assert.Equal([1, 3, 4, 5], servers.All.Select(static one => one.Port));
        Assert.Equal([4, 5, 1, 3, 4], Enumerable.Range(0, 5).Select(_ => servers.TakeNext().Port));
    }

    [Fact]
    public void The_last_four_leaders_that_other_servers_named_are_tried_as_well()
    {
        var servers = Servers(1, 2);
        foreach (int leader in (int[])[2, 3, 4, 3, 5, 6, 7])
        {
            servers.OnWelcome(At(leader));
        }

        Assert.Equal([1, 2, 4, 5, 6, 7], servers.All.Select(static one => one.Port));
        Assert.Equal([1, 2, 4, 5, 6, 7, 1], Enumerable.Range(0, 7).Select(_ => servers.TakeNext().Port));
    }

    [Fact]
    public void The_turn_is_kept_when_addresses_only_go()
    {
        var servers = Servers(1, 2, 3);
        servers.TakeNext();
        servers.TakeNext();
        servers.OnAllFailed(TimeSpan.Zero);
        Answer(At(3), At(2));
        Assert.Equal([2, 3], servers.All.Select(static one => one.Port));
        Assert.Equal([3, 2], [servers.TakeNext().Port, servers.TakeNext().Port]);
    }

    private static IPEndPoint At(int port) => new(IPAddress.Loopback, port);

    private NamedServers Servers(params int[] ports) => new([.. ports.Select(At)], _asked.Add);

    // The last question is answered, on the thread of the node.
    private void Answer(params IPEndPoint[] found) => _asked[^1]([.. found]);

    private IPEndPoint NewAddress() => new(_cluster.World.AddNode(++_seed).LocalAddress, 7401);

    private FakeNode Start(ulong id, ServerResolution resolution)
    {
        var environment = _cluster.World.AddNode(id);
        var node = new FakeNode(environment, new MembershipClientOptions
        {
            Self = new NodeKey(id, 1),
            EndPoint = new IPEndPoint(environment.LocalAddress, 5000),
            Services = [FakeCluster.EndPoint],
            Resolution = resolution,
            Hosted = _cluster.Options,
        });
        node.Client.Start();
        return node;
    }

    private MembershipService Lead(IPEndPoint at)
    {
        var service = new MembershipService(
            _cluster.World.AddNode(++_seed), _cluster.Options, new MemoryMembershipStore(), new ServiceCounters(), NullLogger.Instance);
        service.Start(at);
        return service;
    }
}
