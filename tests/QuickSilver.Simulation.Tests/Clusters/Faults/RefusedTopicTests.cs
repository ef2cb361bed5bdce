namespace QuickSilver.Simulation.Tests.Clusters.Faults;

// A network is torn; on the two sides a topic is opened under contracts that do not match, as in an unfinished upgrade. When it heals,
// the smaller side registers again, and its topic is refused.
public sealed class RefusedTopicTests
{
    private const string Name = "t";


    [Fact]
    public void A_topic_that_is_refused_when_a_torn_network_heals_ends_its_endpoints_with_the_reason_and_can_be_opened_again()
    {
        var options = new SimulationOptions { Nodes = 5, Seed = 1, Membership = MembershipPlacement.Embedded };
        using var cluster = new SimulatedCluster(options);
        cluster.Start();
        cluster.Run(TimeSpan.FromSeconds(3));
        cluster.Network.Partition([0, 1, 2], [3, 4]);
        cluster.Eventually(
            "parted", () => cluster.Nodes[0].KnownNodes == 3 && cluster.Nodes[3].KnownNodes == 2, TimeSpan.FromSeconds(60));
        var strings = cluster.RunUntilCompleted(cluster.Nodes[0].Node.OpenTopicAsync<string>(Name));
        var publisher = cluster.RunUntilCompleted(cluster.Nodes[3].Node.OpenPublisherAsync<byte[]>(Name));
        var subscriber = cluster.RunUntilCompleted(cluster.Nodes[4].Node.OpenSubscriberAsync<byte[]>(Name));
        Exception? end = null;
        cluster.Nodes[4].Post(async () => end = await Assert.ThrowsAsync<ContractMismatchException>(async () =>
        {
            await foreach (var message in subscriber.ReadAllAsync())
            {
                Assert.Single(message.Value);
            }
        }));
        cluster.RunUntilCompleted(publisher.WaitForSubscribersAsync(1));
        cluster.RunUntilCompleted(publisher.PublishAsync([1], PublishCompletion.Stable));
        cluster.Network.Reconnect();
        cluster.Eventually("whole", () => cluster.Nodes.All(node => node.KnownNodes == 5), TimeSpan.FromSeconds(60));
        cluster.Eventually("told", () => end is not null, TimeSpan.FromSeconds(10));
        Assert.Contains("string", end!.Message, StringComparison.Ordinal);
        Assert.Throws<ContractMismatchException>(() => { _ = publisher.PublishAsync([2]); });

        // The other side closes the topic: nothing is in the way any more.
        cluster.RunUntilCompleted(strings.DisposeAsync());
        cluster.Run(TimeSpan.FromSeconds(1));
        var again = cluster.RunUntilCompleted(cluster.Nodes[3].Node.OpenPublisherAsync<byte[]>(Name));
        var reader = cluster.RunUntilCompleted(cluster.Nodes[4].Node.OpenSubscriberAsync<byte[]>(Name));
        long got = 0;
        reader.SubscribeInline((in Message<byte[]> _) => got++);
        cluster.RunUntilCompleted(again.WaitForSubscribersAsync(1));
        cluster.RunUntilCompleted(again.PublishAsync([3], PublishCompletion.Stable));
        cluster.Run(TimeSpan.FromSeconds(1));
        Assert.Equal(1, got);
    }
}
