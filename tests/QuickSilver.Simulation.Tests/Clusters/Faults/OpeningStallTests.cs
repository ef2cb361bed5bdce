namespace QuickSilver.Simulation.Tests.Clusters.Faults;

// What the public layer waits for: a topic to be open, while the membership service does not answer, and subscribers.
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

    // While no service answers, a node cannot leave a view, and must not begin to subscribe in the middle of it.
    [Fact]
    public void A_topic_that_waits_for_the_end_of_an_earlier_subscription_is_named_until_it_is_open()
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
        var earlier = cluster.RunUntilCompleted(node.OpenSubscriberAsync<string>("news"));
        earlier.SubscribeInline(static (in _) => { });
        cluster.Network.Partition([cluster.Service!.Value], [0, 1]);
        cluster.Run(Second * 10);
        cluster.RunUntilCompleted(earlier.DisposeAsync().AsTask());
        var opening = node.OpenSubscriberAsync<string>("news");
        cluster.Run(Second * 2);
        var reason = node.Status.Reasons.Single(static reason => reason.Kind == StatusReasonKind.TopicOpening);
        Assert.StartsWith("Opening topic \"news\": waiting for the end of this node's earlier subscription", reason.Description);
        Assert.Equal("the membership service and the members of the earlier view", reason.WaitsFor);

        cluster.Network.Reconnect();
        cluster.RunUntilCompleted(opening);
        cluster.Run(Second * 2);
        Assert.Null(node.Status.Reason);
    }

    [Fact]
    public async Task A_publisher_that_waits_for_more_nodes_than_subscribe_is_named_until_they_do_or_it_gives_up()
    {
        using var cluster = new SimulatedCluster(
            new SimulationOptions { Nodes = 3, NodeOptions = new QuickSilverOptions { StallWarning = Second } });
        cluster.Start();
        var node = cluster.Nodes[0].Node;
        var topic = cluster.RunUntilCompleted(node.OpenTopicAsync<string>("news"));
        var one = cluster.RunUntilCompleted(node.OpenPublisherAsync<string>("none")).WaitForSubscribersAsync(1);
        cluster.Run(Second * 2);
        Assert.Contains("The publisher of topic \"none\" waits until 1 node subscribes, of which there are 0", node.Status.Reason);
        cluster.RunUntilCompleted(cluster.Nodes[2].Node.OpenSubscriberAsync<string>("none"));
        cluster.RunUntilCompleted(one);

        cluster.RunUntilCompleted(node.OpenSubscriberAsync<string>("news"));
        cluster.RunUntilCompleted(topic.WaitForSubscribersAsync(1));
        var two = topic.WaitForSubscribersAsync(2);
        cluster.Run(Second * 2);
        Assert.Contains("The publisher of topic \"news\" waits until 2 nodes subscribe, of which there are 1", node.Status.Reason);
        Assert.Equal((true, 1, 2), (node.Status.IsReady, topic.Subscribers, node.GetCounters().Stalls));

        cluster.RunUntilCompleted(cluster.Nodes[1].Node.OpenSubscriberAsync<string>("news"));
        cluster.RunUntilCompleted(two);
        using var giveUp = new CancellationTokenSource();
        var three = topic.WaitForSubscribersAsync(3, giveUp.Token);
        cluster.Run(Second * 2);
        Assert.Contains("waits until 3 nodes subscribe, of which there are 2", node.Status.Reason);
        giveUp.Cancel();
        // It is cancelled from outside of the simulation, and completes there: virtual time would not wait for that.
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => three);
        cluster.Run(Second * 2);
        Assert.Null(node.Status.Reason);
    }
}
