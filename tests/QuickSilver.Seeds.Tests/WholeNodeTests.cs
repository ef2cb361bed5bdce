using QuickSilver.Seeds.Tests.Infrastructure;

namespace QuickSilver.Seeds.Tests;

// Whole nodes in the simulator, without faults: that the harness runs, and sees what it should. I1 to I4, I7, I8, I10, I17
// to I20.
public sealed class WholeNodeTests
{
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Two_nodes_share_a_topic(bool embedded)
    {
        using var cluster = Play(7, embedded);
        Assert.Equal(2, cluster.Nodes.Count(node => node.IsInOrder));
        Assert.Equal(200, cluster.History.PublishedCount);
        Assert.Equal(400, cluster.History.DeliveredCount);
        Assert.True(cluster.History.IsComplete);
        Assert.True(cluster.IsQuiet());
        cluster.ReadMemory(quiet: true);
        cluster.History.Count(cluster.CountRepairs());
        cluster.History.AssertHolds();
    }

    [Fact]
    public void One_seed_gives_one_trace()
    {
        static ulong TraceOf(ulong seed)
        {
            using var cluster = Play(seed, embedded: true);
            return cluster.Simulation.Trace.Value;
        }

        Assert.Equal(TraceOf(7), TraceOf(7));
        Assert.NotEqual(TraceOf(7), TraceOf(8));
    }

    private static WholeCluster Play(ulong seed, bool embedded)
    {
        var cluster = new WholeCluster(seed, new ClusterSetup { Nodes = 2, IsEmbedded = embedded });
        foreach (var node in cluster.Nodes)
        {
            node.Subscribe("topic");
            node.Publish("topic");
        }

        cluster.RequireOne(Second * 10, Second / 10, "at the start");
        for (int i = 0; i < 100; i++)
        {
            foreach (var node in cluster.Nodes)
            {
                Assert.True(cluster.Publish(node, "topic", 100));
            }

            cluster.Run(Second / 100);
        }

        cluster.Run(Second * 2);
        return cluster;
    }
}
