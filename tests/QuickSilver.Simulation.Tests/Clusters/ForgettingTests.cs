using QuickSilver.Endpoints;
using QuickSilver.Multicast;

namespace QuickSilver.Simulation.Tests.Clusters;

// What a node knows of regions that no longer concern it is gone, however many came and went (I18).
public sealed class ForgettingTests
{
    [Theory]
    [InlineData(nameof(TopicAccess.Subscribe))]
    [InlineData(nameof(TopicAccess.Publish))]
    [InlineData(nameof(TopicAccess.PublishAndSubscribe))]
    public void A_node_forgets_the_regions_of_what_it_has_closed(string openedTo)
    {
        const int Nodes = 5;
        const int Rounds = 40;
        using var cluster = new SimulatedCluster(Nodes, seed: 3);
        int ended = 0;
        cluster.Start(async node =>
        {
            var dice = new Random(node.Number);
            await node.Node.OpenSubscriberAsync<ReadOnlyMemory<byte>>("home");
            for (int round = 0; round < Rounds; round++)
            {
                // A node subscribes at all times, so that there are regions to publish to.
                var access = node.Number == 0 ? TopicAccess.Subscribe : Enum.Parse<TopicAccess>(openedTo);
                var one = await node.Node.OpenEndpointAsync<ReadOnlyMemory<byte>>($"topic/{dice.Next(8)}", access);
                await using var other = await node.Node.OpenEndpointAsync<ReadOnlyMemory<byte>>($"topic/{8 + dice.Next(8)}", access);
                await Task.Delay(TimeSpan.FromMilliseconds(dice.Next(100)), node.Time);
                await one.DisposeAsync();
            }

            ended++;
        });
        cluster.Eventually("all have closed all else", () => ended == Nodes);
        cluster.Run(TimeSpan.FromSeconds(5));

        Assert.All(cluster.Nodes, node => Assert.Equal(1, node.Node.GetGauges().Regions));
    }

    // As with answers that each have a topic of their own: its sender is gone from it before its receiver.
    [Fact]
    public void A_node_that_answered_on_many_topics_keeps_no_stream_of_those_that_it_has_closed()
    {
        const int Answers = 50;
        using var cluster = new SimulatedCluster(nodes: 3, seed: 3);
        int answered = 0;
        cluster.Start(async node =>
        {
            await node.Node.OpenSubscriberAsync<string>("home");
            if (node.Number == 0)
            {
                return;
            }

            if (node.Number == 2)
            {
                for (int i = 0; i < Answers; i++)
                {
                    var wanted = await node.Node.OpenSubscriberAsync<string>(
                        $"answer/{i}");
                    await foreach (var answer in wanted.ReadAllAsync())
                    {
                        Assert.Equal($"{i}", answer.Value);
                        break;
                    }

                    await Task.Delay(TimeSpan.FromMilliseconds(50), node.Time);
                    await wanted.DisposeAsync();
                    // Back to the region of the nodes that want nothing else: the next answer's is a new one.
                    await Task.Delay(TimeSpan.FromMilliseconds(200), node.Time);
                    answered++;
                }
            }
            else
            {
                for (int i = 0; i < Answers; i++)
                {
                    await using var answer = await node.Node.OpenPublisherAsync<string>(
                        $"answer/{i}");
                    await answer.WaitForSubscribersAsync(1);
                    await answer.PublishAsync($"{i}", PublishCompletion.Stable);
                }
            }
        });
        cluster.Eventually("all is answered", () => answered == Answers);
        cluster.Run(TimeSpan.FromSeconds(5));

        Assert.InRange(MulticastOf(cluster.Nodes[1]).OutboundStreams, 0, 1);
    }

    private static MulticastNode MulticastOf(SimulatedNode node) => (MulticastNode)node.Life!.Parts.Multicast;
}
