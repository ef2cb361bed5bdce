namespace QuickSilver.Simulation.Tests.Clusters;

// What a node knows of regions that no longer concern it is gone, however many came and went (I18).
public sealed class ForgettingTests
{
    [Theory]
    [InlineData(TopicAccess.Subscribe)]
    [InlineData(TopicAccess.Publish)]
    [InlineData(TopicAccess.PublishAndSubscribe)]
    public void A_node_forgets_the_regions_of_what_it_has_closed(TopicAccess access)
    {
        const int Nodes = 5;
        const int Rounds = 40;
        using var cluster = new SimulatedCluster(Nodes, seed: 3);
        int ended = 0;
        cluster.Start(async node =>
        {
            var dice = new Random(node.Number);
            await node.Node.OpenTopicAsync<ReadOnlyMemory<byte>>("home", new TopicOptions { Access = TopicAccess.Subscribe });
            for (int round = 0; round < Rounds; round++)
            {
                // Somebody subscribes at all times, so that there are regions to publish to.
                var options = new TopicOptions { Access = node.Number == 0 ? TopicAccess.Subscribe : access };
                var one = await node.Node.OpenTopicAsync<ReadOnlyMemory<byte>>($"topic/{dice.Next(8)}", options);
                await using var other = await node.Node.OpenTopicAsync<ReadOnlyMemory<byte>>($"topic/{8 + dice.Next(8)}", options);
                await Task.Delay(TimeSpan.FromMilliseconds(dice.Next(100)), node.Time);
                await one.DisposeAsync();
            }

            ended++;
        });
        cluster.Eventually("all have closed all else", () => ended == Nodes);
        cluster.Run(TimeSpan.FromSeconds(5));

        Assert.All(cluster.Nodes, node => Assert.Equal(1, node.Node.GetCounters().Regions));
    }
}
