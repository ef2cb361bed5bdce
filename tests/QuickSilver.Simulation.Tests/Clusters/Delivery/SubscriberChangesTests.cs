namespace QuickSilver.Simulation.Tests.Clusters.Delivery;

// The subscribers of a topic, as its publishers learn them; and endpoints that leave out what their own node published.
public sealed class SubscriberChangesTests
{
    private const string Name = "news";
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    [Fact]
    public void Publishers_learn_the_subscribers_and_why_nodes_join_and_leave()
    {
        using var cluster = new SimulatedCluster(nodes: 4, seed: 1);
        cluster.Start();
        var ids = cluster.Nodes.Select(node => node.Node.Id).ToArray();
        var first = Subscribe(cluster, 1);
        var publisher = Publisher(cluster);
        cluster.RunUntilCompleted(publisher.WaitForSubscribersAsync(1));
        var told = Watch(cluster, publisher);
        cluster.Eventually("the present one is reported", () => told.Count == 1);
        Subscribe(cluster, 2);
        Subscribe(cluster, 3);
        cluster.Eventually("the others are reported", () => told.Count == 3);
        cluster.RunUntilCompleted(first.DisposeAsync().AsTask());
        cluster.Eventually("the one that closed is reported", () => told.Count == 4);
        cluster.Nodes[2].Crash(silently: true);
        cluster.Eventually("the crashed one is reported", () => told.Count == 5);

        Assert.Equal(
            [
                new SubscriberChange(ids[1], true, SubscriberChangeReason.Present),
                new SubscriberChange(ids[2], true, SubscriberChangeReason.Subscribed),
                new SubscriberChange(ids[3], true, SubscriberChangeReason.Subscribed),
                new SubscriberChange(ids[1], false, SubscriberChangeReason.Unsubscribed),
                new SubscriberChange(ids[2], false, SubscriberChangeReason.NodeLeft),
            ],
            told);
    }

    [Fact]
    public void A_slow_enumeration_gets_the_last_state_of_each_node_and_ends_with_the_endpoint()
    {
        using var cluster = new SimulatedCluster(nodes: 3, seed: 2);
        cluster.Start();
        var publisher = Publisher(cluster);
        var told = new List<SubscriberChange>();
        bool isOver = false;
        var release = new TaskCompletionSource();
        cluster.Nodes[0].Post(async () =>
        {
            await foreach (var change in publisher.WatchSubscribersAsync())
            {
                told.Add(change);
                await release.Task;
            }

            isOver = true;
        });
        Subscribe(cluster, 1);
        cluster.Eventually("the first is reported", () => told.Count == 1);
        for (int i = 0; i < 20; i++)
        {
            var other = Subscribe(cluster, 2);
            cluster.RunUntilCompleted(publisher.WaitForSubscribersAsync(2));
            cluster.RunUntilCompleted(other.DisposeAsync().AsTask());
            cluster.Eventually("it is out", () => publisher.Subscribers == 1);
        }

        Subscribe(cluster, 2);
        cluster.RunUntilCompleted(publisher.WaitForSubscribersAsync(2));
        cluster.Run(Second);
        cluster.RunUntilCompleted(() =>
        {
            release.SetResult();
            return Task.CompletedTask;
        });
        cluster.Eventually("the second is reported", () => told.Count == 2);
        Assert.True(told[1].IsJoined);
        Assert.Equal(cluster.Nodes[2].Node.Id, told[1].Node);
        cluster.RunUntilCompleted(publisher.DisposeAsync().AsTask());
        cluster.Eventually("the enumeration ends", () => isOver);
        Assert.Equal(2, told.Count);
    }

    [Fact]
    public void The_enumeration_of_a_node_that_was_removed_throws_the_reason_and_a_token_ends_it()
    {
        using var cluster = new SimulatedCluster(nodes: 3, seed: 3);
        cluster.Start();
        var publisher = Publisher(cluster);
        using var stop = new CancellationTokenSource();
        var ends = new List<string>();
        foreach (var token in (CancellationToken[])[default, stop.Token])
        {
            cluster.Nodes[0].Post(async () =>
            {
                try
                {
                    await foreach (var _ in publisher.WatchSubscribersAsync(token))
                    {
                    }
                }
                catch (Exception exception) when (exception is NodeExpelledException or OperationCanceledException)
                {
                    ends.Add(exception.GetType().Name);
                }
            });
        }

        cluster.Run(Second);
        cluster.RunUntilCompleted(() =>
        {
            stop.Cancel();
            return Task.CompletedTask;
        });
        cluster.Eventually("the token has ended one", () => ends.Count == 1);
        cluster.Nodes[0].Pause(Second * 60);
        cluster.Eventually("the removal has ended the other", () => ends.Count == 2, Second * 90);
        Assert.Equal([nameof(OperationCanceledException), nameof(NodeExpelledException)], ends.Select(
            static end => end == nameof(TaskCanceledException) ? nameof(OperationCanceledException) : end));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Without_echo_an_endpoint_gets_the_messages_of_other_nodes_only(bool inline)
    {
        using var cluster = new SimulatedCluster(nodes: 2, seed: 4);
        cluster.Start();
        var got = new List<string>();
        var gaps = 0;
        var quiet = cluster.RunUntilCompleted(
            cluster.Nodes[0].Node.OpenTopicAsync<string>(Name, new TopicOptions { ReceiveOwnMessages = false, ReaderCapacity = 4 }));
        var other = cluster.RunUntilCompleted(cluster.Nodes[1].Node.OpenTopicAsync<string>(Name));
        var echoed = new List<string>();
        other.SubscribeInline((in Message<string> message) => echoed.Add(message.Value));
        cluster.RunUntilCompleted(quiet.WaitForSubscribersAsync(2));
        if (inline)
        {
            quiet.SubscribeInline((in Message<string> message) => got.Add(message.Value), _ => gaps++);
        }
        else
        {
            cluster.Nodes[0].Post(async () =>
            {
                await foreach (var message in quiet.ReadAllAsync(_ => gaps++))
                {
                    got.Add(message.Value);
                }
            });
        }

        cluster.RunUntilCompleted(async () =>
        {
            for (int i = 0; i < 20; i++)
            {
                await quiet.PublishAsync($"own {i}");
                await other.PublishAsync($"other {i}");
            }
        });
        cluster.Eventually("all are delivered", () => got.Count == 20 && echoed.Count == 40);
        cluster.Run(Second);
        Assert.Equal(Enumerable.Range(0, 20).Select(static i => $"other {i}"), got);
        Assert.Equal((40, 0), (echoed.Count, gaps));
    }

    private static ITopicPublisher<string> Publisher(SimulatedCluster cluster) =>
        cluster.RunUntilCompleted(cluster.Nodes[0].Node.OpenPublisherAsync<string>(Name));

    private static ITopicSubscriber<string> Subscribe(SimulatedCluster cluster, int node) =>
        cluster.RunUntilCompleted(cluster.Nodes[node].Node.OpenSubscriberAsync<string>(Name));

    private static List<SubscriberChange> Watch(SimulatedCluster cluster, ITopicPublisher<string> publisher)
    {
        var told = new List<SubscriberChange>();
        cluster.Nodes[0].Post(async () =>
        {
            await foreach (var change in publisher.WatchSubscribersAsync())
            {
                told.Add(change);
            }
        });
        return told;
    }
}
