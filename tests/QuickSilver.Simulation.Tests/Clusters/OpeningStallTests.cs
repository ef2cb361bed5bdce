namespace QuickSilver.Simulation.Tests.Clusters;

// A topic that cannot be opened for a while, as the membership service does not answer.
public sealed class OpeningStallTests
{
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    [Fact]
    public void A_topic_that_waits_to_be_open_is_named_until_it_is()
    {
        var options = new SimulationOptions
        {
            Nodes = 2,
            Membership = MembershipPlacement.Dedicated,
            NodeOptions = new QuickSilverOptions { StallWarning = Second },
        };
        using var cluster = new SimulatedCluster(options);
        cluster.Start();
        var node = cluster.Nodes[1].Node;
        cluster.RunUntilCompleted(node.OpenTopicAsync<string>("open"));
        cluster.Run(Second * 2);
        Assert.Null(node.Status.Reason);

        cluster.Network.Partition([cluster.Service!.Value], [0, 1]);
        var opening = node.OpenTopicAsync<string>("news");
        cluster.Run(Second * 2);
        Assert.Contains("Opening topic \"news\": waiting for the membership service to answer", node.Status.Reason);
        Assert.True(node.Status.IsReady);
        Assert.Equal(1, node.GetCounters().Stalls);

        cluster.Network.Reconnect();
        cluster.RunUntilCompleted(opening);
        cluster.Run(Second * 2);
        Assert.Null(node.Status.Reason);
    }
}
