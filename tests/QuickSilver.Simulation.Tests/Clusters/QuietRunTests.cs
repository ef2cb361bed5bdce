using Microsoft.Extensions.Logging;
using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Simulation.Tests.Clusters;

// An ordinary run of a service and nodes has nothing to warn of: what does warn is then seen.
public sealed class QuietRunTests
{
    private const int Messages = 1_000;

    // Where nodes host the service themselves, those that start in one instant may each host one for a moment, and the one that hosts it
    // stops first.
    [Theory]
    [InlineData(MembershipPlacement.Dedicated, 5)]
    [InlineData(MembershipPlacement.Embedded, 5)]
    [InlineData(MembershipPlacement.Embedded, 6)]
    [InlineData(MembershipPlacement.Embedded, 7)]
    public void An_ordinary_start_and_stop_of_a_service_a_publisher_and_consumers_warns_of_nothing(
        MembershipPlacement membership, ulong seed)
    {
        var logs = new RecordingLogs();
        var options = new SimulationOptions { Nodes = 3, Seed = seed, Membership = membership, LoggerFactory = logs };
        using (var cluster = new SimulatedCluster(options))
        {
            cluster.Start();
            int handled = 0;
            var publisherNode = cluster.Nodes[0].Node;
            var subscribers = new List<ITopicSubscriber<string>>();
            foreach (var consumer in cluster.Nodes.Skip(1))
            {
                var subscriber = cluster.RunUntilCompleted(consumer.Node.OpenSubscriberAsync<string>("news"));
                subscriber.Subscribe((_, _) =>
                {
                    handled++;
                    return default;
                });
                subscribers.Add(subscriber);
            }

            var publisher = cluster.RunUntilCompleted(publisherNode.OpenPublisherAsync<string>("news"));
            cluster.RunUntilCompleted(publisher.WaitForSubscribersAsync(2));
            cluster.RunUntilCompleted(async () =>
            {
                for (int i = 0; i < Messages; i++)
                {
                    await publisher.PublishAsync($"{i}");
                }
            });
            cluster.Eventually("all is handled", () => handled == 2 * Messages);
            cluster.RunUntilCompleted(() => publisher.DisposeAsync().AsTask());
            foreach (var subscriber in subscribers)
            {
                cluster.RunUntilCompleted(() => subscriber.DisposeAsync().AsTask());
            }

            foreach (var node in cluster.Nodes)
            {
                cluster.RunUntilCompleted(() => node.Node.DisposeAsync().AsTask());
                cluster.Run(TimeSpan.FromSeconds(30));
            }
        }

        Assert.Contains(logs.Entries, static line => line.Level == LogLevel.Information);
        Assert.DoesNotContain(logs.Entries, static line => line.Level >= LogLevel.Warning);
    }
}
