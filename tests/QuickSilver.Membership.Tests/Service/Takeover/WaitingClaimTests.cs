using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Requests;
using QuickSilver.Core.Tests.Infrastructure;
using QuickSilver.Membership.Tests.Infrastructure;

namespace QuickSilver.Membership.Tests.Service.Takeover;

// F8: the store of a service that leads takes no number.
public sealed class WaitingClaimTests
{
    private readonly LeasedStore _store = new();
    private readonly LogRecorder _log = new();
    private readonly FakeCluster _cluster;
    private readonly FakeNode[] _nodes;

    public WaitingClaimTests()
    {
        _cluster = new FakeCluster(store: _store, logger: _log);
        _nodes = _cluster.AddNodes(2);
        _cluster.Run(1);
        _store.Answers = false;
    }

    [Fact]
    public void Members_and_nodes_that_join_are_notified_why_changes_wait_until_they_are_made_again()
    {
        _store.Obstacle = "etcd refused a request (space exceeded).";
        _nodes[0].Subscribe("A");
        _cluster.Run(4);
        Assert.All(_nodes, static node => Assert.Null(node.Client.Trouble));
        _cluster.Run(2);
        Assert.All(_nodes, static node => AssertWaits(node, "etcd refused a request (space exceeded)."));
        var late = _cluster.AddNode(3);
        _cluster.World.RunUntil(() => late.Client.IsReachable);
        _cluster.Run(0.1);
        AssertWaits(late, "etcd refused a request (space exceeded).");

        Answer();
        _cluster.World.RunUntil(() => late.Nodes.Count == 3);
        _cluster.Run(0.1);
        Assert.All([.. _nodes, late], static node => Assert.Null(node.Client.Trouble));
        Assert.Equal((1, 1), (Count(1333), Count(1334)));
    }

    [Fact]
    public void A_reason_that_changes_is_reported_again_and_the_time_since_when_it_is_so_stays()
    {
        _nodes[0].Subscribe("A");
        _cluster.Run(6);
        AssertWaits(_nodes[1], "its store does not answer.");
        var since = _nodes[1].Client.Trouble!.Since;
        _store.Obstacle = "etcd refused a request (no leader).";
        _cluster.Run(60);
        AssertWaits(_nodes[1], "etcd refused a request (no leader).");
        Assert.Equal(since, _nodes[1].Client.Trouble!.Since);
        Assert.Equal(2, Count(1333));
        Assert.All(_nodes, static node => Assert.True(node.Client.IsReachable));
    }

    [Fact]
    public void The_next_service_that_takes_the_node_in_makes_changes()
    {
        _nodes[0].Subscribe("A");
        _cluster.Run(6);
        AssertWaits(_nodes[0], "its store does not answer.");
        _cluster.ServiceEnvironment.Crash();
        _store.Answers = true;
        _cluster.StartService();
        _cluster.World.RunUntil(() => _nodes[0].Has("A"));
        Assert.All(_nodes, static node => Assert.Null(node.Client.Trouble));
    }

    private static void AssertWaits(FakeNode node, string reason)
    {
        Assert.Equal(TroubleKind.ChangesWait, node.Client.Trouble?.Kind);
        Assert.StartsWith($"The membership service cannot make changes: {reason} No node joins", node.Client.Trouble!.Description);
    }

    private int Count(int id) => _log.Entries.Count(entry => entry.Id == id);

    private void Answer() => _cluster.ServiceEnvironment.Post(new ActionRequest(_store.Answer));
}
