using System.Globalization;
using QuickSilver.Serialization;

namespace QuickSilver.Simulation.Tests.Clusters;

// The topics of a sender are delayed against each other, as a slow reader does it, and each keeps its own order.
public sealed class TopicDelayTests
{
    private const int Orders = 40;

    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(5);

    [Fact]
    public void Code_that_relies_on_an_order_between_topics_fails_under_some_seed()
    {
        var thrown = Assert.Throws<SimulationException>(() => Simulate.ManySeeds(10, new SimulationOptions { Nodes = 2 }, PayForOrders));

        Assert.Contains("a payment is for a known order", thrown.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Code_that_relies_on_an_order_between_topics_passes_without_a_delay() => Simulate.ManySeeds(
        3, new SimulationOptions { Nodes = 2, TopicDelay = TimeSpan.Zero }, PayForOrders);

    [Theory]
    [InlineData(Guarantee.Reliable)]
    [InlineData(Guarantee.BestEffort)]
    public void Each_topic_of_a_sender_keeps_its_order_and_loses_nothing(Guarantee guarantee) => Simulate.ManySeeds(
        10,
        new SimulationOptions { Nodes = 2 },
        cluster =>
        {
            var options = new TopicOptions { Guarantee = guarantee };
            var got = new List<int>[] { [], [], [] };
            cluster.Start(async node =>
            {
                for (int topic = 0; topic < got.Length; topic++)
                {
                    var list = got[topic];
                    if (node.Number == 1)
                    {
                        var subscriber = await node.Node.OpenSubscriberAsync<string>($"t{topic}", options);
                        subscriber.SubscribeInline((in message) => list.Add(Number(message.Value)));
                    }
                    else
                    {
                        _ = PublishAsync(node, await node.Node.OpenPublisherAsync<string>($"t{topic}", options));
                    }
                }
            });

            cluster.Eventually("all has come", () => got.All(static list => list.Count == Orders));
            cluster.Run(TimeSpan.FromSeconds(1));
            Assert.All(got, static list => Assert.Equal(Enumerable.Range(0, Orders), list));
        });

    [Fact]
    public void A_message_that_is_published_when_another_topic_is_stable_comes_after_it() => Simulate.ManySeeds(
        10,
        new SimulationOptions { Nodes = 2 },
        cluster =>
        {
            var got = new List<string>();
            cluster.Start(async node =>
            {
                if (node.Number == 1)
                {
                    await ListenAsync(node, "orders", got.Add);
                    await ListenAsync(node, "payments", got.Add);
                    return;
                }

                var (orders, payments) = await OpenBothAsync(node);
                for (int i = 0; i < Orders; i++)
                {
                    await orders.PublishAsync($"{i} a", PublishCompletion.Stable);
                    await payments.PublishAsync($"{i} b", PublishCompletion.Stable);
                }
            });

            cluster.Eventually("all has come", () => got.Count == Orders * 2);
            Assert.Equal(got.OrderBy(static line => Number(line.Split(' ')[0])).ThenBy(static line => line, StringComparer.Ordinal), got);
        });

    [Fact]
    public void One_seed_has_one_order()
    {
        static string Order(ulong seed)
        {
            var got = new List<string>();
            using var cluster = new SimulatedCluster(nodes: 2, seed);
            cluster.Start(async node =>
            {
                if (node.Number == 1)
                {
                    await ListenAsync(node, "orders", number => got.Add($"order {number}"));
                    await ListenAsync(node, "payments", number => got.Add($"payment {number}"));
                }
                else
                {
                    await PublishBothAsync(node);
                }
            });
            cluster.Eventually("all has come", () => got.Count == Orders * 2);
            return string.Join(' ', got);
        }

        Assert.Equal(Order(1), Order(1));
        Assert.NotEqual(Order(1), Order(2));
    }

    [Fact]
    public void A_delay_out_of_range_is_refused()
    {
        Assert.Throws<ArgumentException>(() => new SimulatedCluster(new SimulationOptions { TopicDelay = TimeSpan.FromTicks(-1) }));
        Assert.Throws<ArgumentException>(() => new SimulatedCluster(new SimulationOptions { TopicDelay = TimeSpan.FromSeconds(1.1) }));
    }

    [Fact]
    public void The_report_of_a_seed_that_fails_has_the_last_deliveries_of_each_node()
    {
        var thrown = Assert.Throws<SimulationException>(() => Simulate.ManySeeds(1, new SimulationOptions { Nodes = 2 }, static cluster =>
        {
            int got = 0;
            cluster.Start(async node =>
            {
                var text = await node.Node.OpenTopicAsync<string>("prices");
                var bytes = await node.Node.OpenTopicAsync<byte[]>("raw");
                text.SubscribeInline((in _) => got++);
                bytes.SubscribeInline((in _) => got++);
                if (node.Number == 0)
                {
                    await text.WaitForSubscribersAsync(2);
                    for (int i = 0; i < 20; i++)
                    {
                        await text.PublishAsync($"UAL {i}");
                    }

                    await text.DrainAsync();
                    await bytes.WaitForSubscribersAsync(2);
                    await bytes.PublishAsync([0, 255]);
                }
            });
            cluster.Eventually("all has come", () => got == 42);
            Assert.All(cluster.Nodes, static node => Assert.Equal(10, node.LastDeliveries.Count));
            throw new InvalidDataException("this");
        }));

        Assert.Contains("Last deliveries to node 0:", thrown.Message, StringComparison.Ordinal);
        Assert.Contains("Last deliveries to node 1:", thrown.Message, StringComparison.Ordinal);
        Assert.Contains("topic \"prices\", message 20 of node 0: \"UAL 19\"", thrown.Message, StringComparison.Ordinal);
        Assert.Contains("topic \"raw\", message 1 of node 0: 0x00FF", thrown.Message, StringComparison.Ordinal);
        Assert.DoesNotContain("UAL 10\"", thrown.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void The_last_deliveries_show_the_fields_of_a_message()
    {
        using var cluster = new SimulatedCluster(new SimulationOptions { Nodes = 2 });
        var options = new TopicOptions<byte[]> { Codec = new OrderCodec() };
        cluster.Start(async node =>
        {
            if (node.Number == 1)
            {
                (await node.Node.OpenSubscriberAsync<byte[]>("orders", options)).SubscribeInline(static (in _) => { });
                return;
            }

            var orders = await node.Node.OpenPublisherAsync<byte[]>("orders", options);
            await orders.WaitForSubscribersAsync(1);
            await orders.PublishAsync([0x0A, 3, .. "tea"u8, 0x10, 2]);
            await orders.PublishAsync([0x0A, 0xD8, 4, .. new string('x', 600).Select(static one => (byte)one)]);
        });
        cluster.Eventually("both have come", () => cluster.Nodes[1].LastDeliveries.Count == 2);

        var lines = cluster.Nodes[1].LastDeliveries;
        Assert.EndsWith("message 1 of node 0: {\"Item\":\"tea\",\"Count\":2}", lines[0], StringComparison.Ordinal);
        // Too long to be kept as a whole.
        Assert.Contains("message 2 of node 0: 0x", lines[1], StringComparison.Ordinal);
    }

    [Fact]
    public void The_last_deliveries_name_the_life_of_a_sender_that_was_restarted()
    {
        using var cluster = new SimulatedCluster(nodes: 2, seed: 1);
        cluster.Start(async node =>
        {
            if (node.Number == 1)
            {
                await ListenAsync(node, "orders", static _ => { });
                return;
            }

            var orders = await node.Node.OpenPublisherAsync<string>("orders");
            await orders.WaitForSubscribersAsync(1);
            await orders.PublishAsync($"{node.Lives}");
        });
        cluster.Eventually("the first has come", () => cluster.Nodes[1].LastDeliveries.Count == 1);
        cluster.Nodes[0].Crash();
        cluster.Nodes[0].Start();
        cluster.Eventually("the second has come", () => cluster.Nodes[1].LastDeliveries.Count == 2);

        Assert.EndsWith("topic \"orders\", message 1 of node 0: \"1\"", cluster.Nodes[1].LastDeliveries[0], StringComparison.Ordinal);
        Assert.EndsWith(
            "topic \"orders\", message 1 of node 0 in life 2: \"2\"", cluster.Nodes[1].LastDeliveries[1], StringComparison.Ordinal);
    }

    // Wrong: a payment may come before its order.
    private static void PayForOrders(SimulatedCluster cluster)
    {
        var orders = new HashSet<string>();
        int payments = 0;
        bool isKnown = true;
        cluster.Always("a payment is for a known order", () => isKnown);
        cluster.Start(async node =>
        {
            if (node.Number == 0)
            {
                await PublishBothAsync(node);
                return;
            }

            await ListenAsync(node, "orders", number => orders.Add(number));
            await ListenAsync(node, "payments", number =>
            {
                payments++;
                isKnown &= orders.Contains(number);
            });
        });
        cluster.Eventually("all are paid", () => payments == Orders);
    }

    private static async Task ListenAsync(SimulatedNode node, string name, Action<string> handler)
    {
        var topic = await node.Node.OpenSubscriberAsync<string>(name);
        topic.SubscribeInline((in message) => handler(message.Value));
    }

    private static async Task<(ITopicPublisher<string> Orders, ITopicPublisher<string> Payments)> OpenBothAsync(SimulatedNode node)
    {
        var orders = await node.Node.OpenPublisherAsync<string>("orders");
        var payments = await node.Node.OpenPublisherAsync<string>("payments");
        await orders.WaitForSubscribersAsync(1);
        await payments.WaitForSubscribersAsync(1);
        return (orders, payments);
    }

    private static async Task PublishBothAsync(SimulatedNode node)
    {
        var (orders, payments) = await OpenBothAsync(node);
        for (int i = 0; i < Orders; i++)
        {
            await orders.PublishAsync($"{i}");
            await payments.PublishAsync($"{i}");
            await Task.Delay(Pause, node.Time);
        }
    }

    private static async Task PublishAsync(SimulatedNode node, ITopicPublisher<string> topic)
    {
        await topic.WaitForSubscribersAsync(1);
        for (int i = 0; i < Orders; i++)
        {
            await topic.PublishAsync($"{i}");
            await Task.Delay(Pause, node.Time);
        }
    }

    private static int Number(string text) => int.Parse(text, CultureInfo.InvariantCulture);

    // The bytes of an order, which the test writes itself: an item and a count.
    private sealed class OrderCodec : IPayloadCodec<byte[]>
    {
        public PayloadSchema Schema { get; } = new(
            "Order", PayloadSchema.MessageKind, [new PayloadField(1, "Item", "string"), new PayloadField(2, "Count", "int32")]);

        public int GetSize(in byte[] value) => value.Length;

        public int Write(in byte[] value, Span<byte> destination)
        {
            value.CopyTo(destination);
            return value.Length;
        }

        public byte[] Read(ReadOnlySpan<byte> source) => source.ToArray();
    }
}
