using QuickSilver.Simulation;

namespace QuickSilver.Groups.Tests;

// Groups whose members take events in the primary partition only. The first node is the oldest member, which orders: cut off, it could
// continue by itself.
public sealed class PrimaryPartitionTests : IDisposable
{
    private const string Name = "orders";
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    private readonly SimulatedCluster _cluster = new(nodes: 3, seed: 5);
    private readonly List<string>[] _got = [[], [], []];
    private readonly IGroup<string>[] _members = new IGroup<string>[3];

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_member_that_may_have_been_removed_takes_no_events(bool isPrimaryOnly)
    {
        Begin(isPrimaryOnly);
        CutOff();
        Assert.True(_cluster.RunUntil(() => IsSilent(0), 60 * Second));
        Send(0, "cut off");
        Send(1, "primary");
        _cluster.Run(10 * Second);

        Assert.Equal(isPrimaryOnly ? [] : ["cut off"], _got[0]);
        Assert.Equal(["primary"], _got[1]);
        Assert.Equal(["primary"], _got[2]);
        string[] waits = [.. _cluster.Nodes[0].Node.Status.Reasons.Select(static reason => reason.Description)];
        Assert.Equal(isPrimaryOnly, waits.Any(static text => text.Contains("primary partition", StringComparison.Ordinal)));

        // The service has removed the node, so it ends, and nothing of what waited follows.
        _cluster.Heal();
        Assert.True(_cluster.RunUntil(() => _cluster.Nodes[0].Node.Status.State == NodeState.Expelled, 60 * Second));
        _cluster.Run(Second);
        Assert.Equal(isPrimaryOnly ? [] : ["cut off"], _got[0]);
    }

    [Fact]
    public void What_waited_follows_in_order_when_the_service_is_heard_again_and_has_removed_no_member()
    {
        Begin(isPrimaryOnly: true);
        int service = _cluster.Service!.Value;
        int[] nodes = [.. _cluster.Nodes.Select(static node => node.Number)];
        _cluster.Network.Partition([service], nodes);
        Assert.True(_cluster.RunUntil(() => nodes.All(IsSilent), 60 * Second));
        for (int i = 0; i < 20; i++)
        {
            Send(i % 3, $"{i}");
        }

        _cluster.Run(Second / 10);
        Assert.All(_got, Assert.Empty);

        _cluster.Heal();
        Assert.True(_cluster.RunUntil(() => _got.All(static got => got.Count == 20), 60 * Second));
        Assert.Equal(_got[0], _got[1]);
        Assert.Equal(_got[0], _got[2]);
    }

    [Fact]
    public async Task Where_nodes_host_the_service_a_member_is_refused_and_a_sender_is_not()
    {
        using var hosted = new SimulatedCluster(new SimulationOptions { Nodes = 1, Membership = MembershipPlacement.Embedded });
        hosted.Start();
        var options = new GroupOptions { PrimaryPartitionOnly = true };
        var refusal = await Assert.ThrowsAsync<NotSupportedException>(() => hosted.Nodes[0].Node.OpenGroupAsync<string>(Name, options));
        Assert.StartsWith(
            "The group \"orders\" with PrimaryPartitionOnly needs a standalone membership service.",
            refusal.Message,
            StringComparison.Ordinal);
        Assert.NotNull(hosted.RunUntilCompleted(hosted.Nodes[0].Node.OpenGroupSenderAsync<string>(Name, options)));
    }

    public void Dispose() => _cluster.Dispose();

    private void Begin(bool isPrimaryOnly)
    {
        _cluster.Start();
        foreach (var node in _cluster.Nodes)
        {
            var options = new GroupOptions { PrimaryPartitionOnly = isPrimaryOnly };
            var group = _members[node.Number] = _cluster.RunUntilCompleted(node.Node.OpenGroupAsync<string>(Name, options));
            group.SubscribeInline((in GroupEvent<string> one) =>
            {
                if (one.TryGetMessage(out string? text))
                {
                    _got[node.Number].Add(text);
                }
            });
        }

        _cluster.Run(Second);
    }

    private void CutOff() => _cluster.Network.Partition([0], [_cluster.Service!.Value, 1, 2]);

    private bool IsSilent(int node) => _cluster.Nodes[node].Node.Status.Reasons.Any(static one => one.Kind == StatusReasonKind.Degraded);

    private void Send(int node, string text) => _cluster.Nodes[node].Post(() => _members[node].SendAsync(text).AsTask());
}
