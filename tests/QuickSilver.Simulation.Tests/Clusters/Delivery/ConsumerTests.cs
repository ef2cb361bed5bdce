using System.Globalization;

namespace QuickSilver.Simulation.Tests.Clusters.Delivery;

// Consumers of whole nodes, in virtual time.
public sealed class ConsumerTests
{
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    [Theory]
    [InlineData(1)]
    [InlineData(4)]
    public void A_slow_consumer_slows_the_publisher_down_and_nothing_is_lost_or_out_of_order(int concurrency)
    {
        using var cluster = new SimulatedCluster(nodes: 2, seed: 1);
        var got = new List<int>();
        IConsumption? consumption = null;
        int gaps = 0;
        var options = new ConsumerOptions<string> { Concurrency = concurrency, OnGap = _ => gaps++ }.WithKey(static text => text[^1]);
        cluster.Start(async node =>
        {
            if (node.Number != 1)
            {
                return;
            }

            var topic = await node.Node.OpenSubscriberAsync<string>("t", new TopicOptions { ReaderCapacity = 16 });
            consumption = topic.Subscribe(
                async (message, cancellation) =>
                {
                    await Task.Delay(TimeSpan.FromMilliseconds(10), node.Time, cancellation);
                    got.Add(int.Parse(message.Value, CultureInfo.InvariantCulture));
                },
                options);
        });
        var publisher = Publisher(cluster);
        var began = cluster.Now;
        var padding = new string('0', 20_000);
        cluster.RunUntilCompleted(
            async () =>
            {
                for (int i = 0; i < 1000; i++)
                {
                    await publisher.PublishAsync(padding + i.ToString("00000", CultureInfo.InvariantCulture));
                }

                await publisher.DrainAsync();
            },
            Second * 60);
        cluster.Eventually("all is handled", () => consumption!.Handled == 1000);

        Assert.Equal(0, gaps);
        Assert.Equal(1000, got.Distinct().Count());
        Assert.All(got.GroupBy(static number => number % 10), static group => Assert.Equal(group.Order(), group));
        Assert.True(concurrency > 1 || got.SequenceEqual(Enumerable.Range(0, 1000)));
        Assert.True(cluster.Now - began >= TimeSpan.FromMilliseconds(10 * 1000 / concurrency));
    }

    [Fact]
    public void Retries_wait_in_virtual_time_and_one_seed_is_one_run()
    {
        static (ulong Trace, string Calls) Run()
        {
            using var cluster = new SimulatedCluster(nodes: 2, seed: 5);
            var calls = new List<TimeSpan>();
            IConsumption? consumption = null;
            cluster.Start(async node =>
            {
                if (node.Number == 1)
                {
                    var topic = await node.Node.OpenSubscriberAsync<string>("t");
                    consumption = topic.Subscribe(
                        (_, _) =>
                        {
                            calls.Add(cluster.Now);
                            return calls.Count < 4 ? throw new IOException("busy") : default;
                        },
                        new ConsumerOptions<string>
                        {
                            Concurrency = 3,
                            OnError = ConsumerErrors.Retry(5, Second, Second * 2).ThenStop(),
                        }.WithKey(static text => text));
                }
            });
            var publisher = Publisher(cluster);
            cluster.RunUntilCompleted(publisher.PublishAsync("x"));
            cluster.Eventually("it is handled", () => consumption!.Handled == 1);
            var waits = calls.Zip(calls.Skip(1), static (a, b) => Math.Round((b - a).TotalSeconds, 2));
            return (cluster.TraceHash, string.Join(' ', waits.Select(static wait => wait.ToString(CultureInfo.InvariantCulture))));
        }

        var first = Run();
        Assert.Equal("1 2 2", first.Calls);
        Assert.Equal(first, Run());
    }

    [Fact]
    public void The_consumer_of_a_node_that_was_removed_ends_with_the_reason()
    {
        using var cluster = new SimulatedCluster(nodes: 3, seed: 2);
        var ends = new List<SubscriptionEnd>();
        cluster.Start(async node =>
        {
            if (node is { Number: 1, Lives: 1 })
            {
                var topic = await node.Node.OpenSubscriberAsync<string>("t");
                topic.Subscribe(static (_, _) => default, new ConsumerOptions<string> { OnEnded = ends.Add });
                topic.SubscribeInline((in Message<string> _) => { }, onEnded: ends.Add);
            }
        });
        Publisher(cluster);
        cluster.Nodes[1].Pause(Second * 60);
        cluster.Run(Second * 70);
        Assert.Equal([SubscriptionEndReason.NodeExpelled, SubscriptionEndReason.NodeExpelled], ends.Select(static end => end.Reason));
    }

    [Fact]
    public void Exceptions_at_random_leave_exact_counts_and_the_order_of_each_key()
    {
        const int Messages = 20_000;
        using var cluster = new SimulatedCluster(nodes: 2, seed: 3);
        var got = new List<int>();
        IConsumption? consumption = null;
        int dead = 0;
        int thrown = 0;
        cluster.Start(async node =>
        {
            if (node.Number != 1)
            {
                return;
            }

            var topic = await node.Node.OpenSubscriberAsync<string>("t");
            consumption = topic.Subscribe(
                async (message, cancellation) =>
                {
                    if (node.Random.Next(4) == 0)
                    {
                        await Task.Delay(TimeSpan.FromMicroseconds(node.Random.Next(300)), node.Time, cancellation);
                    }

                    if (node.Random.Next(20) == 0)
                    {
                        thrown++;
                        throw new IOException("random");
                    }

                    got.Add(int.Parse(message.Value, CultureInfo.InvariantCulture));
                },
                new ConsumerOptions<string>
                {
                    Concurrency = 8,
                    OnError = ConsumerErrors.Retry(1, TimeSpan.FromMilliseconds(1)).ThenSkip(),
                    OnDeadLetter = (_, _) =>
                    {
                        dead++;
                        return default;
                    },
                }.WithKey(static text => text[^1]));
        });
        var publisher = Publisher(cluster);
        cluster.RunUntilCompleted(async () =>
        {
            for (int i = 0; i < Messages; i++)
            {
                await publisher.PublishAsync(i.ToString("000000", CultureInfo.InvariantCulture));
            }
        });
        cluster.Eventually("all are finished", () => consumption!.Handled + consumption.Skipped == Messages);

        Assert.True(dead > 0);
        Assert.Equal((dead, got.Count, thrown), (consumption!.Skipped, consumption.Handled, consumption.Retried + consumption.Skipped));
        Assert.Equal(Messages - dead, got.Distinct().Count());
        Assert.All(got.GroupBy(static number => number % 10), static group => Assert.Equal(group.Order(), group));
    }

    private static ITopicPublisher<string> Publisher(SimulatedCluster cluster)
    {
        var publisher = cluster.RunUntilCompleted(cluster.Nodes[0].Node.OpenPublisherAsync<string>("t"));
        cluster.RunUntilCompleted(publisher.WaitForSubscribersAsync(1));
        return publisher;
    }
}
