using System.Globalization;

namespace QuickSilver.Simulation.Tests.Clusters.Delivery;

// I25, where messages wait in the buffer, below it, in packets and on their way while their subscriber ends, and datagrams are lost.
public sealed class SubscriberLeaveTests
{
    private const int Messages = 1500;
    private static readonly TimeSpan Millisecond = TimeSpan.FromMilliseconds(1);
    private static readonly TimeSpan Minute = TimeSpan.FromMinutes(1);

    [Theory]
    [InlineData("stop", 1)]
    [InlineData("stop", 4)]
    [InlineData("stop with a limit", 1)]
    [InlineData("dispose", 1)]
    [InlineData("dispose the node", 1)]
    public void Stable_messages_are_handled_or_reported_without_a_hole(string verb, int concurrency)
    {
        for (int seed = 1; seed <= 3; seed++)
        {
            Run(verb, concurrency, seed);
        }
    }

    [Fact]
    public void An_endpoint_that_ends_beside_another_of_its_node_gets_what_has_come()
    {
        using var cluster = new SimulatedCluster(nodes: 2, seed: 4);
        var got = new List<long>();
        var other = new List<long>();
        var ends = new List<SubscriptionEnd>();
        IConsumption? consumption = null;
        cluster.Start(async node =>
        {
            if (node.Number != 1)
            {
                return;
            }

            var slow = await node.Node.OpenSubscriberAsync<string>("t", new TopicOptions { ReaderCapacity = 16 });
            consumption = slow.Subscribe(
                async (message, _) =>
                {
                    await Task.Delay(Millisecond, node.Time);
                    got.Add(message.Sequence);
                },
                new ConsumerOptions<string> { OnEnded = ends.Add });
            var beside = await node.Node.OpenSubscriberAsync<string>("t");
            beside.SubscribeInline((in Message<string> message) => other.Add(message.Sequence));
        });
        var publisher = Publisher(cluster);
        var publishing = PublishAsync(cluster, publisher, static _ => { });
        cluster.Eventually("some are handled", () => got.Count > 30);
        cluster.RunUntilCompleted(() => consumption!.StopAsync(), Minute);
        cluster.RunUntilCompleted(publishing, Minute);
        cluster.Eventually("the other has all", () => other.Count == Messages);

        Assert.Equal(0, Assert.Single(ends).Unhandled);
        Assert.Equal(Enumerable.Range(1, got.Count).Select(static i => (long)i), got);
        Assert.True(got.Count < Messages);
        Assert.Equal(Enumerable.Range(1, Messages).Select(static i => (long)i), other);
    }

    [Fact]
    public void A_topic_that_is_opened_again_while_its_last_endpoint_leaves_begins_with_a_view_of_its_own()
    {
        using var cluster = new SimulatedCluster(nodes: 2, seed: 5);
        var first = new List<long>();
        var second = new List<long>();
        QuickSilverNode? there = null;
        IConsumption? consumption = null;
        cluster.Start(async node =>
        {
            if (node.Number == 1)
            {
                there = node.Node;
                var topic = await there.OpenSubscriberAsync<string>("t");
                consumption = topic.Subscribe((message, _) =>
                {
                    first.Add(message.Sequence);
                    return default;
                });
            }
        });
        var publisher = Publisher(cluster);
        var publishing = PublishAsync(cluster, publisher, static _ => { });
        cluster.Eventually("some are handled", () => first.Count > 30);
        cluster.RunUntilCompleted(
            async () =>
            {
                var stopping = consumption!.StopAsync();
                var again = await there!.OpenSubscriberAsync<string>("t");
                again.SubscribeInline((in Message<string> message) => second.Add(message.Sequence));
                await stopping;
            },
            Minute);
        cluster.RunUntilCompleted(publishing, Minute);
        cluster.Eventually("the publisher knows the new subscriber", () => publisher.Subscribers == 1);
        cluster.RunUntilCompleted(publisher.PublishAsync("last"));
        cluster.Eventually("the last has come", () => second.Contains(Messages + 1));

        Assert.Equal(Enumerable.Range(1, first.Count).Select(static i => (long)i), first);
        Assert.True(second[0] > first[^1]);
        Assert.Equal(Enumerable.Range((int)second[0], second.Count).Select(static i => (long)i), second);
    }

    private static void Run(string verb, int concurrency, int seed)
    {
        using var cluster = new SimulatedCluster(
            new SimulationOptions { Nodes = 3, Seed = (ulong)seed, Link = new LinkModel { Loss = 0.02 } });
        var got = new List<long>();
        var reported = new List<long>();
        IConsumption? consumption = null;
        ITopicSubscriber<string>? received = null;
        cluster.Start(async node =>
        {
            if (node.Number == 1)
            {
                received = await node.Node.OpenSubscriberAsync<string>("t", new TopicOptions { ReaderCapacity = 16 });
                consumption = received.Subscribe(
                    async (message, stop) =>
                    {
                        await Task.Delay(Millisecond, node.Time, stop);
                        got.Add(message.Sequence);
                    },
                    new ConsumerOptions<string>
                    {
                        Concurrency = concurrency,
                        OnGap = gap => reported.AddRange(Enumerable.Range(0, (int)gap.Count).Select(i => gap.First + i)),
                    });
            }
            else if (node.Number == 2)
            {
                var beside = await node.Node.OpenSubscriberAsync<string>("t");
                beside.SubscribeInline((in Message<string> _) => { });
            }
        });
        var publisher = Publisher(cluster, subscribers: 2);
        long stable = 0;
        var publishing = PublishAsync(cluster, publisher, number => stable = publisher.Subscribers == 2 ? number : stable);
        cluster.Eventually("some are handled", () => got.Count > 30);
        var there = cluster.Nodes[1].Node;
        switch (verb)
        {
            case "stop":
                cluster.RunUntilCompleted(() => consumption!.StopAsync(), Minute);
                break;
            case "stop with a limit":
                using (var limit = new CancellationTokenSource())
                {
                    cluster.After(Millisecond * 20, limit.Cancel);
                    cluster.RunUntilCompleted(
                        async () => await Assert.ThrowsAnyAsync<OperationCanceledException>(() => consumption!.StopAsync(limit.Token)),
                        Minute);
                }

                break;
            case "dispose":
                cluster.RunUntilCompleted(async () => await received!.DisposeAsync(), Minute);
                break;
            default:
                cluster.RunUntilCompleted(async () => await there.DisposeAsync(), Minute);
                break;
        }

        var end = cluster.RunUntilCompleted(consumption!.Completion, Minute);
        long through = got.Concat(reported).Max();
        cluster.RunUntilCompleted(publishing, Minute);

        Assert.Equal(Enumerable.Range(1, (int)through).Select(static i => (long)i), got.Concat(reported).Order());
        Assert.True(through >= stable, $"{verb}, seed {seed}: {through} of {stable}");
        Assert.Equal(reported.Count, end.Unhandled);
        Assert.True(verb is not ("stop" or "dispose") || reported.Count == 0, $"{verb}, seed {seed}: {reported.Count}");
    }

    // Reports each message that is stable, in order.
    private static Task PublishAsync(SimulatedCluster cluster, ITopicPublisher<string> publisher, Action<int> stable)
    {
        string padding = new('0', 4000);
        var done = new TaskCompletionSource();
        cluster.Nodes[0].Post(async () =>
        {
            var waiting = new Queue<Task>();
            int next = 0;
            for (int i = 0; i < Messages; i++)
            {
                string text = padding + i.ToString(CultureInfo.InvariantCulture);
                waiting.Enqueue(publisher.PublishAsync(text, PublishCompletion.Stable).AsTask());
                while (waiting.Count > 200 || (i == Messages - 1 && waiting.Count > 0))
                {
                    await waiting.Dequeue();
                    stable(++next);
                }
            }

            done.SetResult();
        });
        return done.Task;
    }

    private static ITopicPublisher<string> Publisher(SimulatedCluster cluster, int subscribers = 1)
    {
        var publisher = cluster.RunUntilCompleted(cluster.Nodes[0].Node.OpenPublisherAsync<string>("t"));
        cluster.RunUntilCompleted(publisher.WaitForSubscribersAsync(subscribers));
        return publisher;
    }
}
