namespace QuickSilver.Simulation.Tests.Clusters;

// How many configurations a node has applied, over the services that made them: the numbers of two services are far apart.
public sealed class ConfigurationCountTests
{
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    [Fact]
    public void A_service_that_takes_over_adds_the_configurations_that_it_makes_and_no_more()
    {
        using var cluster = new SimulatedCluster(
            new SimulationOptions { Nodes = 3, Seed = 5, Membership = MembershipPlacement.Embedded });
        cluster.Start();
        var subscriber = cluster.RunUntilCompleted(cluster.Nodes[2].Node.OpenSubscriberAsync<string>("news"));
        cluster.Run(Second);
        var (counters, gauges) = Read();
        cluster.Nodes[0].Crash();
        cluster.Eventually("two nodes are left", () => cluster.Nodes[2].Node.Status is { Members: 2, IsReady: true }, Second * 60);
        cluster.Run(Second);

        var (after, levels) = Read();
        Assert.True(levels.Configuration - gauges.Configuration > 1L << 31, "the same service made the next configuration");
        Assert.InRange(after.ConfigurationsApplied - counters.ConfigurationsApplied, 1, 10);
        _ = subscriber;

        (NodeCounters, NodeGauges) Read() => (cluster.Nodes[2].Node.GetCounters(), cluster.Nodes[2].Node.GetGauges());
    }
}
