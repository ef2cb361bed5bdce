using System.Diagnostics;

namespace QuickSilver.Simulation.Tests.Clusters.Delivery;

// What messages of whole nodes carry besides their payload.
public sealed class HeaderTests
{
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(60);
    private static readonly MessageHeaders Headers = new() { CorrelationId = "c", ["a"] = "1" };

    [Theory]
    [InlineData(PublishCompletion.Accepted)]
    [InlineData(PublishCompletion.Stable)]
    public void Handlers_readers_and_consumers_get_the_headers_of_each_message(PublishCompletion completion)
    {
        using var cluster = new SimulatedCluster(nodes: 2, seed: 1);
        var handled = new List<Message<string>>();
        var read = new List<Message<string>>();
        var consumed = new List<Message<string>>();
        cluster.Start(async node =>
        {
            if (node.Number == 1)
            {
                (await node.Node.OpenSubscriberAsync<string>("t")).SubscribeInline((in Message<string> message) => handled.Add(message));
                (await node.Node.OpenSubscriberAsync<string>("t")).Subscribe((message, _) =>
                {
                    consumed.Add(message);
                    return default;
                });
                await foreach (var message in (await node.Node.OpenSubscriberAsync<string>("t")).ReadAllAsync())
                {
                    read.Add(message);
                }
            }
        });
        PublishAll(
            cluster,
            new TopicOptions(),
            async topic =>
            {
                await topic.PublishAsync("plain");
                await topic.PublishAsync("with", Headers, completion);
                await topic.PublishAsync("none", null, completion);
                await topic.PublishAsync(new string('x', 100_000), Headers, completion);
            });
        cluster.Eventually("all came", () => handled.Count == 4 && read.Count == 4 && consumed.Count == 4);

        Assert.All([handled, read, consumed], static messages =>
        {
            Assert.Null(messages[0].Headers);
            Assert.Equal(Headers, messages[1].Headers);
            Assert.Null(messages[2].Headers);
            Assert.Equal(Headers, messages[3].Headers);
            Assert.Equal(["plain", "with", "none"], messages.Take(3).Select(static message => message.Value));
        });
    }

    [Fact]
    public void Headers_stay_with_their_messages_while_publishers_wait_for_room_and_packets_are_lost()
    {
        const int Messages = 3000;
        using var cluster = new SimulatedCluster(new SimulationOptions { Nodes = 3, Seed = 3, Link = new LinkModel { Loss = 0.02 } });
        var got = new List<(int Number, string? Header, long Length)>();
        cluster.Start(async node =>
        {
            if (node.Number == 1)
            {
                var topic = await node.Node.OpenSubscriberAsync<ReadOnlyMemory<byte>>("t");
                topic.SubscribeInline((in Message<ReadOnlyMemory<byte>> message) =>
                    got.Add((BitConverter.ToInt32(message.Value.Span), message.Headers?["number"], message.Value.Length)));
            }
        });
        PublishAll<ReadOnlyMemory<byte>>(
            cluster,
            new TopicOptions(),
            async topic =>
            {
                for (int i = 0; i < Messages; i++)
                {
                    byte[] payload = new byte[4 + (i % 7 * 700)];
                    BitConverter.TryWriteBytes(payload, i);
                    if (i % 3 == 0)
                    {
                        await topic.PublishAsync(payload);
                    }
                    else
                    {
                        await topic.PublishAsync(payload, new MessageHeaders { ["number"] = $"{i}" });
                    }
                }
            });
        cluster.Eventually("all came", () => got.Count == Messages, Limit);

        for (int i = 0; i < Messages; i++)
        {
            Assert.Equal((i, i % 3 == 0 ? null : $"{i}", 4 + (i % 7 * 700)), got[i]);
        }
    }

    [Fact]
    public void Messages_and_feeds_of_an_endpoint_that_stamps_them_have_the_time_of_publication()
    {
        using var cluster = new SimulatedCluster(nodes: 2, seed: 2);
        var times = new List<DateTimeOffset?>();
        cluster.Start(async node =>
        {
            if (node.Number == 1)
            {
                (await node.Node.OpenSubscriberAsync<string>("t")).SubscribeInline(
                    (in Message<string> message) => times.Add(message.Headers?.PublishTime));
            }
        });
        var began = cluster.Options.Epoch + cluster.Now;
        PublishAll<string>(
            cluster,
            new TopicOptions { StampPublishTime = true },
            async topic =>
            {
                await topic.PublishAsync("a");
                await topic.PublishAsync("b", new MessageHeaders { ["a"] = "1" }, PublishCompletion.Stable);
                int left = 1;
                topic.AttachFeed((out string value) =>
                {
                    value = "c";
                    return left-- > 0;
                });
            });
        cluster.Eventually("all came", () => times.Count == 3);

        Assert.All(times, time => Assert.InRange(time!.Value, began, cluster.Options.Epoch + cluster.Now));
        Assert.Equal(times.Order(), times);
    }

    [Fact]
    public void A_trace_goes_from_the_publisher_through_handlers_and_consumers_that_publish_themselves()
    {
        string topicName = $"traced {Guid.NewGuid():N}";
        string nextName = $"next {Guid.NewGuid():N}";
        var ended = new List<Activity>();
        using var listener = new ActivityListener
        {
            ShouldListenTo = static source => source.Name == "QuickSilver",
            Sample = (ref ActivityCreationOptions<ActivityContext> options) =>
                options.Name.EndsWith(topicName, StringComparison.Ordinal) || options.Name.EndsWith(nextName, StringComparison.Ordinal)
                    ? ActivitySamplingResult.AllDataAndRecorded
                    : ActivitySamplingResult.None,
            ActivityStopped = activity =>
            {
                lock (ended)
                {
                    ended.Add(activity);
                }
            },
        };
        ActivitySource.AddActivityListener(listener);
        using var cluster = new SimulatedCluster(nodes: 2, seed: 4);
        int handled = 0;
        cluster.Start(async node =>
        {
            var topic = await node.Node.OpenTopicAsync<string>(topicName);
            var next = await node.Node.OpenTopicAsync<string>(nextName);
            next.SubscribeInline((in Message<string> _) =>
            {
                handled++;
                throw new InvalidOperationException("no");
            });
            if (node.Number == 1)
            {
                topic.Subscribe(async (message, cancellation) =>
                {
                    await Task.Delay(TimeSpan.FromMilliseconds(5), node.Time, cancellation);
                    await next.PublishAsync(message.Value, message.Headers, PublishCompletion.Accepted, cancellation);
                });
            }
        });
        var outer = Activity.Current;
        cluster.RunUntilCompleted(
            async () =>
            {
                var topic = await cluster.Nodes[0].Node.OpenPublisherAsync<string>(topicName);
                await topic.WaitForSubscribersAsync(2);
                await topic.PublishAsync("m", new MessageHeaders { CorrelationId = "c" }, PublishCompletion.Stable);
            },
            Limit);
        cluster.Eventually("the next was handled", () => handled == 2);

        Assert.Same(outer, Activity.Current);
        var publish = Assert.Single(ended, activity => activity.OperationName == $"publish {topicName}");
        var process = Assert.Single(ended, activity => activity.OperationName == $"process {topicName}");
        var republish = Assert.Single(ended, activity => activity.OperationName == $"publish {nextName}");
        var handlers = ended.Where(activity => activity.OperationName == $"process {nextName}").ToList();
        Assert.Equal(publish.SpanId, process.ParentSpanId);
        Assert.Equal(process.SpanId, republish.ParentSpanId);
        Assert.Equal(2, handlers.Count);
        Assert.All(handlers, handler =>
        {
            Assert.Equal(republish.SpanId, handler.ParentSpanId);
            Assert.Equal(publish.TraceId, handler.TraceId);
            Assert.Equal(ActivityStatusCode.Error, handler.Status);
            Assert.Equal("System.InvalidOperationException", handler.GetTagItem("error.type"));
        });
        Assert.Equal(ActivityKind.Producer, publish.Kind);
        Assert.Equal(ActivityKind.Consumer, process.Kind);
        Assert.Equal("quicksilver", process.GetTagItem("messaging.system"));
        Assert.Equal(topicName, process.GetTagItem("messaging.destination.name"));
        Assert.Equal("c", process.GetTagItem("messaging.message.conversation_id"));
        Assert.Equal("process", process.GetTagItem("messaging.operation.type"));
        Assert.EndsWith(":1", (string)process.GetTagItem("messaging.message.id")!, StringComparison.Ordinal);
        Assert.Equal("node-0", process.GetTagItem("quicksilver.sender.name"));
    }

    private static void PublishAll(SimulatedCluster cluster, TopicOptions options, Func<ITopicPublisher<string>, Task> publish) =>
        PublishAll<string>(cluster, options, publish);

    private static void PublishAll<T>(SimulatedCluster cluster, TopicOptions options, Func<ITopicPublisher<T>, Task> publish) =>
        cluster.RunUntilCompleted(
            async () =>
            {
                var topic = await cluster.Nodes[0].Node.OpenPublisherAsync<T>("t", options);
                await topic.WaitForSubscribersAsync(1);
                await publish(topic);
            },
            Limit);
}
