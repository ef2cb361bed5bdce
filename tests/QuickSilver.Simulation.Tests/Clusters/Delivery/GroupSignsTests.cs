using System.IO.Pipelines;
using QuickSilver.Groups;
using QuickSilver.Membership.Snapshots;
using QuickSilver.Nodes;

namespace QuickSilver.Simulation.Tests.Clusters.Delivery;

// What a node reports of its groups to an observer of the cluster.
public sealed class GroupSignsTests
{
    private const string Name = "orders";
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    [Fact]
    public void Each_member_reports_its_view_its_rank_and_the_orderer()
    {
        using var cluster = new SimulatedCluster(nodes: 3, seed: 1);
        cluster.Start();
        Assert.Empty(Read(cluster, 0));
        var groups = Enumerable.Range(0, 3).Select(i => cluster.RunUntilCompleted(cluster.Nodes[i].Node.OpenGroupAsync<string>(Name)))
            .ToList();
        cluster.Run(Second);

        var rows = Enumerable.Range(0, 3).Select(i => Assert.Single(Read(cluster, i))).ToList();
        Assert.Equal([0, 1, 2], rows.Select(static row => row.Rank));
        Assert.All(rows, row => Assert.Equal(
            ("Group", Name, rows[0].View, 3, NameOf(cluster, 0), 0, StateStanding.None),
            (row.Guarantee, row.Topic, row.View, row.Members, row.Orderer, row.Waiting, row.State)));
        Assert.True(rows[0].View > 0);

        cluster.RunUntilCompleted(groups[0].DisposeAsync());
        cluster.Run(5 * Second);
        Assert.Empty(Read(cluster, 0));
        var second = Assert.Single(Read(cluster, 1));
        Assert.Equal((0, 2, NameOf(cluster, 1)), (second.Rank, second.Members, second.Orderer));
        Assert.True(second.View > rows[0].View);
    }

    [Fact]
    public void Messages_that_wait_for_their_order_are_reported_before_other_groups()
    {
        using var cluster = new SimulatedCluster(nodes: 2, seed: 2);
        cluster.Start();
        cluster.RunUntilCompleted(cluster.Nodes[0].Node.OpenGroupAsync<string>(Name));
        cluster.RunUntilCompleted(cluster.Nodes[1].Node.OpenGroupAsync<string>("a group that rests"));
        var group = cluster.RunUntilCompleted(cluster.Nodes[1].Node.OpenGroupAsync<string>(Name));
        group.SubscribeInline(static (in GroupEvent<string> _) => { });
        cluster.Run(Second);
        cluster.Nodes[0].Pause();
        for (int i = 0; i < 3; i++)
        {
            cluster.RunUntilCompleted(group.SendAsync($"{i}", GroupOrder.Total));
        }

        cluster.Run(Second / 10);
        var rows = Read(cluster, 1);
        Assert.Equal([Name, "a group that rests"], rows.Select(static row => row.Topic));
        Assert.Equal((3, true, NameOf(cluster, 0), 1), (rows[0].Waiting, rows[0].IsWaiting, rows[0].Orderer, rows[0].Rank));
        Assert.False(rows[1].IsWaiting);
        Assert.Equal([rows[0]], Read(cluster, 1, most: 1));
    }

    [Fact]
    public void A_member_that_seeks_the_state_names_the_donor_which_names_the_taker()
    {
        using var cluster = new SimulatedCluster(nodes: 2, seed: 3);
        cluster.Start();
        var donor = new SlowState(cluster.Nodes[0]);
        var taker = new SlowState(cluster.Nodes[1]);
        Open(cluster, 0, donor);
        cluster.Eventually("the first has its state", () => Read(cluster, 0) is [{ State: StateStanding.Held, Takers: "" }]);
        Open(cluster, 1, taker);
        cluster.Eventually("the first writes", () => donor.HasBegun);

        var sought = Assert.Single(Read(cluster, 1));
        Assert.Equal((StateStanding.Sought, NameOf(cluster, 0), true), (sought.State, sought.Donor, sought.IsWaiting));
        Assert.Equal(NameOf(cluster, 1), Assert.Single(Read(cluster, 0)).Takers);

        cluster.Eventually("the second has it", () => Read(cluster, 1) is [{ State: StateStanding.Held, Donor: "" }], 20 * Second);
        cluster.Eventually("the first gives nothing", () => Read(cluster, 0) is [{ Takers: "" }]);
    }

    private static void Open(SimulatedCluster cluster, int node, SlowState state) => cluster.Nodes[node].Post(
        async () => await cluster.Nodes[node].Node.OpenGroupAsync(Name, state));

    private static string NameOf(SimulatedCluster cluster, int node) => cluster.Nodes[node].Node.Name;

    private static IReadOnlyList<ProtocolSnapshot> Read(SimulatedCluster cluster, int node, int most = NodeSnapshot.MostRows)
    {
        IReadOnlyList<ProtocolSnapshot> rows = [];
        ((NodeCore)cluster.Nodes[node].Node.Core).OnSnapshotWanted(most, signs => rows = signs.ProtocolRows);
        return rows;
    }

    private sealed class SlowState(SimulatedNode node) : IGroupHandler<string>
    {
        public bool HasBegun { get; private set; }

        public ValueTask OnEventAsync(GroupEvent<string> one, CancellationToken cancellationToken) => ValueTask.CompletedTask;

        public async ValueTask WriteStateAsync(PipeWriter to, CancellationToken cancellationToken)
        {
            HasBegun = true;
            await Task.Delay(5 * Second, node.Time, cancellationToken);
            await to.WriteAsync(new byte[] { 1 }, cancellationToken);
        }

        public ValueTask ReadStateAsync(PipeReader from, GroupView view, CancellationToken cancellationToken) => ValueTask.CompletedTask;
    }
}
