using QuickSilver.Diagnostics.Figures;

namespace QuickSilver.Simulation.Tests.Clusters.Faults;

// Whole nodes with default options on networks that carry no multicast.
public sealed class NoMulticastTests
{
    private static readonly LinkModel Off = new() { MulticastOff = true };
    private static readonly TimeSpan Soon = TimeSpan.FromSeconds(3);

    [Theory]
    [InlineData(2)]
    [InlineData(5)]
    [InlineData(20)]
    public void With_default_options_the_first_message_comes_within_three_seconds_and_all_others_too(int nodes)
    {
        for (ulong seed = 1; seed <= 5; seed++)
        {
            using var cluster = Started(nodes, seed, MembershipPlacement.Dedicated, out var got);
            var topic = cluster.RunUntilCompleted(cluster.Nodes[0].Node.OpenTopicAsync<string>("news"));
            cluster.RunUntilCompleted(topic.WaitForSubscribersAsync(nodes));
            cluster.RunUntilCompleted(topic.PublishAsync("first", PublishCompletion.Stable), Soon);
            Assert.All(got, lines => Assert.Equal(["first"], lines));
            for (int i = 0; i < 2_000; i++)
            {
                cluster.RunUntilCompleted(topic.PublishAsync($"{i}"));
            }

            cluster.RunUntilCompleted(topic.PublishAsync("last", PublishCompletion.Stable), Soon);
            Assert.All(got, lines => Assert.Equal(2_002, lines.Count));
            cluster.Run(Soon);
            Assert.Contains($"{nodes - 1} node{(nodes == 2 ? " " : "s ")}to which this node sends", cluster.Nodes[0].Node.Status.Reason);
            Assert.True(cluster.Nodes[0].Node.Status.IsReady);
            Assert.Equal(nodes - 1, cluster.Nodes[0].Node.GetGauges().DeafMembers);
            Assert.All(cluster.Nodes.Skip(1), node =>
            {
                Assert.Contains("does not hear 1 sender over multicast", node.Node.Status.Reason);
                Assert.Equal(1, node.Node.GetGauges().UnheardSenders);
            });

            long repairs = cluster.Nodes.Sum(node => node.Node.Read(NodeFigures.Repairs));
            cluster.RunUntilCompleted(topic.PublishAsync("copied", PublishCompletion.Stable), Soon);
            Assert.Equal(nodes - 1, cluster.Nodes[0].Node.Read(NodeFigures.CopiesSent));
            Assert.Equal(repairs, cluster.Nodes.Sum(node => node.Node.Read(NodeFigures.Repairs)));
        }
    }

    [Fact]
    public void Working_multicast_is_not_mentioned()
    {
        using var cluster = new SimulatedCluster(nodes: 5, seed: 1);
        cluster.Start(Listen(Lines(cluster)));
        var topic = cluster.RunUntilCompleted(cluster.Nodes[0].Node.OpenTopicAsync<string>("news"));
        for (int i = 0; i < 100; i++)
        {
            cluster.RunUntilCompleted(topic.PublishAsync($"{i}"));
            cluster.Run(TimeSpan.FromMilliseconds(100));
        }

        Assert.All(cluster.Nodes, node => Assert.Null(node.Node.Status.Reason));
        Assert.Equal(0, cluster.Nodes[0].Node.Read(NodeFigures.CopiesSent));
    }

    // No service can be found there without an address; each node says so, and what to do.
    [Fact]
    public void Nodes_that_cannot_find_each_other_report_what_to_do()
    {
        var options = new SimulationOptions { Nodes = 2, StartedNodes = 0, Membership = MembershipPlacement.Embedded, Link = Off };
        using var cluster = new SimulatedCluster(options);
        cluster.Start();
        cluster.Nodes[0].Start();
        cluster.Nodes[1].Start();
        cluster.Run(TimeSpan.FromSeconds(20));

        Assert.All(cluster.Nodes, node =>
        {
            Assert.Equal(1, node.KnownNodes);
            Assert.True(node.Node.Status.IsReady);
            Assert.Contains("give all nodes its address in the option Membership:Servers", node.Node.Status.Reason);
        });
    }

    [Fact]
    public void Nodes_that_find_each_other_report_nothing_and_withdraw_earlier_reports()
    {
        var options = new SimulationOptions { Nodes = 2, StartedNodes = 1, Membership = MembershipPlacement.Embedded };
        using var cluster = new SimulatedCluster(options);
        cluster.Start();
        cluster.Run(TimeSpan.FromSeconds(20));
        Assert.Contains("No other node has been found", cluster.Nodes[0].Node.Status.Reason);
        cluster.Nodes[1].Start();
        cluster.Run(TimeSpan.FromSeconds(20));

        Assert.All(cluster.Nodes, node => Assert.Null(node.Node.Status.Reason));
    }

    private static SimulatedCluster Started(int nodes, ulong seed, MembershipPlacement membership, out List<string>[] got)
    {
        var cluster = new SimulatedCluster(new SimulationOptions { Nodes = nodes, Seed = seed, Membership = membership, Link = Off });
        got = Lines(cluster);
        cluster.Start(Listen(got));
        return cluster;
    }

    private static List<string>[] Lines(SimulatedCluster cluster) => [.. cluster.Nodes.Select(_ => new List<string>())];

    private static Func<SimulatedNode, Task> Listen(List<string>[] got) => async node =>
    {
        var topic = await node.Node.OpenTopicAsync<string>("news");
        topic.SubscribeInline((in message) => got[node.Number].Add(message.Value));
    };
}
