using QuickSilver.Simulation.Machines;

namespace QuickSilver.Simulation.Tests.Clusters.Faults;

// Whole nodes whose system refuses what they ask for. Node 0 publishes a message each 2 ms; the others subscribe, the last of them
// after the rest.
public sealed class RefusedCallsTests
{
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    private readonly List<string> _ends = [];
    private long _published;
    private long[] _got = [];
    private int _opened;

    [Theory]
    [InlineData(2, 1)]
    [InlineData(2, 2)]
    [InlineData(4, 3)]
    [InlineData(4, 4)]
    public void A_port_that_is_refused_once_stops_no_node(int subscribers, ulong seed)
    {
        using var cluster = Start(subscribers, seed, last => last.Faults.Refusals.Begin(SystemCalls.OpenGroup, atMost: 1));
        cluster.Run(Second * 20);
        Assert.Equal(subscribers, _opened);
        Assert.True(_published > 5_000);
        Assert.All(_got.Skip(1).SkipLast(1), count => Assert.InRange(count, _published - 200, _published));
        Assert.InRange(_got[^1], _published - 1_500, _published);
        Assert.Null(cluster.Nodes[^1].Node.Status.Reason);
    }

    [Fact]
    public void A_node_whose_group_is_refused_says_so_and_gets_its_messages_all_the_same()
    {
        using var cluster = Start(subscribers: 4, seed: 5, last => last.Faults.Refusals.Begin(SystemCalls.OpenGroup));
        cluster.Run(Second * 15);
        var status = cluster.Nodes[^1].Node.Status;
        Assert.True(status.IsReady);
        Assert.Contains("Too many open files", status.Reason, StringComparison.Ordinal);
        Assert.InRange(_got[^1], _published - 1_500, _published);
        Assert.Contains("1 node to which this node sends does not hear", cluster.Nodes[0].Node.Status.Reason, StringComparison.Ordinal);
        Assert.All(cluster.Nodes.Skip(1).SkipLast(1), node => Assert.Null(node.Node.Status.Reason));
    }

    [Fact]
    public void A_node_whose_group_is_refused_permanently_ends_its_endpoints_with_the_reason_and_the_others_continue()
    {
        using var cluster = Start(subscribers: 3, seed: 6, last => last.Faults.Refusals.Begin(SystemCalls.OpenGroup));
        cluster.Eventually("the node gives up", () => _ends.Count > 0, Second * 60);
        Assert.Contains("This node left the cluster: the system has refused the group", _ends[0], StringComparison.Ordinal);
        Assert.Contains("Too many open files", _ends[0], StringComparison.Ordinal);

        long before = _published;
        cluster.Run(Second * 10);
        Assert.True(_published - before > 4_000);
        Assert.All(_got.Skip(1).SkipLast(1), count => Assert.InRange(count, _published - 200, _published));
    }

    [Theory]
    [InlineData(SystemCallName.Connect)]
    [InlineData(SystemCallName.OpenPort)]
    [InlineData(SystemCallName.Accept)]
    public void A_node_that_cannot_begin_for_a_while_joins_when_its_system_lets_it(SystemCallName call)
    {
        var calls = Enum.Parse<SystemCalls>(call.ToString());
        using var cluster = new SimulatedCluster(new SimulationOptions { Nodes = 3, Seed = 7, Membership = MembershipPlacement.Dedicated });
        var refusing = call == SystemCallName.Accept ? cluster.Machines.Nodes[cluster.Service!.Value].Faults : cluster.Nodes[2].Faults;
        refusing.Refusals.Begin(calls);
        cluster.Machines.After(Second * 5, () => refusing.Refusals.End());
        cluster.Start();
        Assert.True(cluster.Now >= Second * 5);
        Assert.True(refusing.Refusals.Count > 0);
        Assert.All(cluster.Nodes, node => Assert.True(node.IsJoined));
    }

    [Fact]
    public void A_host_that_may_not_listen_leaves_it_to_another()
    {
        using var cluster = new SimulatedCluster(new SimulationOptions { Nodes = 3, Seed = 8, Membership = MembershipPlacement.Embedded });
        cluster.Nodes[0].Faults.Refusals.Begin(SystemCalls.Listen);
        cluster.Start();
        Assert.All(cluster.Nodes, node => Assert.True(node.IsJoined));
    }

    public enum SystemCallName
    {
        Connect,
        OpenPort,
        Accept,
    }

    private SimulatedCluster Start(int subscribers, ulong seed, Action<SimulatedNode> refuse)
    {
        var options = new SimulationOptions { Nodes = subscribers + 1, Seed = seed, Membership = MembershipPlacement.Dedicated };
        var cluster = new SimulatedCluster(options);
        _got = new long[subscribers + 1];
        cluster.Start(async node =>
        {
            if (node.Number == 0)
            {
                await PublishAsync(node);
            }
            else
            {
                await SubscribeAsync(node, isLast: node.Number == subscribers, refuse);
            }
        });
        return cluster;
    }

    private async Task PublishAsync(SimulatedNode node)
    {
        var topic = await node.Node.OpenPublisherAsync<string>("t");
        await topic.WaitForSubscribersAsync(1);
        while (true)
        {
            await topic.PublishAsync(new string('x', 1000));
            _published++;
            await Task.Delay(TimeSpan.FromMilliseconds(2), node.Time);
        }
    }

    private async Task SubscribeAsync(SimulatedNode node, bool isLast, Action<SimulatedNode> refuse)
    {
        if (isLast)
        {
            await Task.Delay(Second * 2, node.Time);
            refuse(node);
        }

        try
        {
            var topic = await node.Node.OpenSubscriberAsync<string>("t");
            _opened++;
            await foreach (var message in topic.ReadAllAsync())
            {
                _got[node.Number]++;
            }
        }
        catch (NodeExpelledException expelled)
        {
            _ends.Add(expelled.Message);
        }
    }
}
