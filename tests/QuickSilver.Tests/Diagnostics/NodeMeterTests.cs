using QuickSilver.Composition;
using QuickSilver.Core.Wire;
using QuickSilver.Diagnostics.Figures;
using QuickSilver.Membership.Diagnostics;
using QuickSilver.Multicast.Channels;
using QuickSilver.Nodes.Measures;
using QuickSilver.Tests.Infrastructure;
using QuickSilver.Tests.Infrastructure.Fakes;

namespace QuickSilver.Tests.Diagnostics;

// The meter of real nodes on the loopback interface.
public sealed class NodeMeterTests
{
    private readonly QuickSilverOptions _options = new() { Cluster = $"meter {Guid.NewGuid():N}" };

    [Fact]
    public async Task Without_the_option_no_topic_is_named()
    {
        using var meter = new MeterReading(_options.Cluster);
        await using var node = await QuickSilverNode.StartAsync(_options).OrFail();
        await using var topic = await node.OpenTopicAsync<string>("prices").OrFail();
        await topic.PublishAsync("1", PublishCompletion.Stable).OrFail();
        await meter.UntilAsync("messaging.client.sent.messages", 1);
        Assert.DoesNotContain(
            meter.Read().Keys,
            static key => key.Contains("prices", StringComparison.Ordinal)
                || key.StartsWith("quicksilver.topic", StringComparison.Ordinal));
    }

    [Fact]
    public async Task Dropped_packets_are_counted_by_reason()
    {
        using var reading = new MeterReading(_options.Cluster);
        await using var parts = new FakeParts();
        Drop(DropReason.Truncated, 7);
        Drop(DropReason.UnknownVersion, 5);
        var node = await parts.StartAsync(_options);
        var values = reading.Read();
        Assert.Equal(
            (7, 0, 5, 0),
            (Dropped("truncated"), Dropped("malformed"), Dropped("unknown_version"), Dropped("not_authentic")));
        Assert.Equal(12, node.Read(NodeFigures.PacketsDropped).Sum(static one => one.Value));

        void Drop(DropReason reason, int packets)
        {
            for (int i = 0; i < packets; i++)
            {
                parts.Counters.Multicast.Drop(reason);
            }
        }

        long Dropped(string reason) => values[$"quicksilver.packets.dropped {reason}"];
    }

    [Fact]
    public async Task Refused_datagrams_of_discovery_are_counted_by_reason()
    {
        using var meter = new MeterReading(_options.Cluster);
        await using var node = await QuickSilverNode.StartAsync(_options).OrFail();
        var values = meter.Read();
        Assert.All(
            ["foreign_cluster", "unknown_version", "not_authentic"],
            reason => Assert.Contains($"quicksilver.discovery.dropped {reason}", values));

        using var other = new MeterReading("discovery");
        var membership = new ClientCounters { OtherVersions = 7, NotAuthentic = 5 };
        await using var parts = new FakeParts { Counters = new LayerCounters { Membership = membership } };
        await parts.StartAsync(new QuickSilverOptions { Cluster = "discovery" });
        values = other.Read();
        Assert.Equal(
            (7, 5),
            (values["quicksilver.discovery.dropped unknown_version"], values["quicksilver.discovery.dropped not_authentic"]));
    }

    [Fact]
    public async Task The_first_topics_are_named_and_the_others_are_summed()
    {
        _options.MeteredTopics = 2;
        using var meter = new MeterReading(_options.Cluster);
        await using var node = await QuickSilverNode.StartAsync(_options).OrFail();
        var topics = new List<ITopic<string>>();
        for (int i = 1; i <= 4; i++)
        {
            topics.Add(await node.OpenTopicAsync<string>($"t{i}").OrFail());
            await meter.UntilAsync(i <= 2 ? $"quicksilver.topic.sent t{i}" : $"quicksilver.topic.sent {MeteredTopics.Others}", 0);
        }

        for (int i = 0; i < topics.Count; i++)
        {
            for (int message = 0; message <= i; message++)
            {
                await topics[i].PublishAsync("x", PublishCompletion.Stable).OrFail();
            }
        }

        await meter.UntilAsync("quicksilver.topic.sent t1", 1);
        await meter.UntilAsync("quicksilver.topic.sent t2", 2);
        await meter.UntilAsync($"quicksilver.topic.sent {MeteredTopics.Others}", 7);
        await meter.UntilAsync("quicksilver.topic.consumed t2", 2);
        await meter.UntilAsync($"quicksilver.topic.consumed {MeteredTopics.Others}", 7);
        var values = meter.Read();
        Assert.Equal((1, 2, 7), (values["quicksilver.topic.waiting t1"], values["quicksilver.topic.waiting t2"],
            values[$"quicksilver.topic.waiting {MeteredTopics.Others}"]));
        Assert.Equal(10, values["quicksilver.reader.waiting"]);
        Assert.Equal(3, values.Keys.Count(static key => key.StartsWith("quicksilver.topic.sent ", StringComparison.Ordinal)));
        await using (var reader = topics[1].ReadAllAsync().GetAsyncEnumerator())
        {
            Assert.True(await reader.MoveNextAsync().OrFail());
            Assert.True(await reader.MoveNextAsync().OrFail());
        }

        await meter.UntilAsync("quicksilver.topic.waiting t2", 0);
    }

    [Fact]
    public async Task Lost_messages_are_counted_apart_from_delivered_ones()
    {
        using var meter = new MeterReading(_options.Cluster);
        await using var parts = new FakeParts();
        _options.MeteredTopics = 1;
        var node = await parts.StartAsync(_options);
        await using var topic = await parts.OpenSubscriberAsync<string>(node, "t");
        await parts.Core.RunAsync(() =>
        {
            Assert.True(parts.ReceiverOf("t").Deliver(1, "x"u8));
            parts.ReceiverOf("t").Gap(2, 6, TopicGapReason.Unrepaired);
            Assert.True(parts.ReceiverOf("t").Deliver(7, "x"u8));
            parts.Core.Advance(TimeSpan.FromSeconds(1));
        });
        var values = meter.Read();
        Assert.Equal((2, 5, 5), (values["quicksilver.topic.consumed t"], values["quicksilver.topic.lost t"], values["quicksilver.gaps"]));
        await topic.DisposeAsync().OrFail();
        await parts.Core.RunAsync(() => parts.Core.Advance(TimeSpan.FromSeconds(1)));
        values = meter.Read();
        Assert.Equal((2, 5), (values["quicksilver.topic.consumed t"], values["quicksilver.topic.lost t"]));
        await parts.Time.RunUntilAsync(node.DisposeAsync().AsTask());
    }

    [Fact]
    public async Task A_topic_that_is_opened_again_continues_its_counts()
    {
        _options.MeteredTopics = 10;
        using var meter = new MeterReading(_options.Cluster);
        await using var node = await QuickSilverNode.StartAsync(_options).OrFail();
        for (int round = 1; round <= 3; round++)
        {
            await using (var topic = await node.OpenTopicAsync<string>("t").OrFail())
            {
                for (int message = 0; message < 5; message++)
                {
                    await topic.PublishAsync("x", PublishCompletion.Stable).OrFail();
                }
            }

            await meter.UntilAsync("quicksilver.topic.sent t", 5 * round);
            await meter.UntilAsync("quicksilver.topic.consumed t", 5 * round);
        }
    }

    [Fact]
    public async Task Requests_are_counted_by_what_becomes_of_them()
    {
        using var meter = new MeterReading(_options.Cluster);
        await using var node = await QuickSilverNode.StartAsync(_options).OrFail();
        var hold = new TaskCompletionSource();
        await using var responder = await node.OpenResponderAsync<string, string>("r", async (request, _) =>
        {
            if (request.Value == "wait")
            {
                await hold.Task;
            }

            return request.Value == "fail" ? throw new InvalidOperationException("No.") : request.Value;
        }).OrFail();
        await using var requester = await node.OpenRequesterAsync<string, string>(
            "r", new RequesterOptions { MaxOutstanding = 1, WaitForResponder = TimeSpan.Zero }).OrFail();
        await requester.WaitForRespondersAsync(1).OrFail();
        Assert.Equal("a", await requester.AskAsync("a").OrFail());
        await Assert.ThrowsAsync<ResponderFailedException>(() => requester.AskAsync("fail")).OrFail();
        var waits = requester.AskAsync("wait");
        Assert.Equal(1, meter.Read()["quicksilver.requests.waiting"]);
        await Assert.ThrowsAsync<TooManyRequestsException>(() => requester.AskAsync("one more")).OrFail();
        hold.SetResult();
        await waits.OrFail();
        using (var stop = new CancellationTokenSource())
        {
            hold = new TaskCompletionSource();
            var cancelled = requester.AskAsync("wait", stop.Token);
            await stop.CancelAsync();
            await Assert.ThrowsAnyAsync<OperationCanceledException>(() => cancelled).OrFail();
            hold.SetResult();
        }

        await using var lonely = await node.OpenRequesterAsync<string, string>(
            "nobody", new RequesterOptions { WaitForResponder = TimeSpan.Zero }).OrFail();
        await Assert.ThrowsAsync<NoResponderException>(() => lonely.AskAsync("x")).OrFail();
        await meter.UntilAsync("quicksilver.replies answered", 3);
        var values = meter.Read();
        Assert.Equal((5, 2, 0), (values["quicksilver.requests"], values["quicksilver.requests.answered"],
            values["quicksilver.requests.waiting"]));
        Assert.Equal(
            (1, 1, 1, 1, 0),
            (Failed("no_responder"), Failed("responder_failed"), Failed("too_many"), Failed("cancelled"), Failed("timeout")));
        Assert.Equal((1, 0), (values["quicksilver.replies failed"], values["quicksilver.replies expired"]));
        var counters = node.GetCounters();
        Assert.Equal((5, 2, 4), (counters.Requests, counters.RequestsAnswered, counters.RequestsFailed));

        long Failed(string kind) => values[$"quicksilver.requests.failed {kind}"];
    }

    [Fact]
    public async Task The_keys_of_states_and_what_nodes_give_each_other_are_counted()
    {
        using var meter = new MeterReading(_options.Cluster);
        await using var first = await QuickSilverNode.StartAsync(_options).OrFail();
        await using var second = await QuickSilverNode.StartAsync(_options).OrFail();
        await using var here = await first.OpenStateAsync<string, string>("s").OrFail();
        await here.SetAsync("a", "1").OrFail();
        await here.SetAsync("b", "2").OrFail();
        Assert.Equal(2, meter.Read()["quicksilver.state.keys"]);
        await using (var there = await second.OpenStateAsync<string, string>("s").OrFail())
        {
            Assert.Equal(2, there.Count);
            Assert.Equal((2, 2), (first.GetGauges().StateKeys, second.GetGauges().StateKeys));
            await meter.UntilAsync("quicksilver.state.snapshots.given", 1);
            await meter.UntilAsync("quicksilver.state.snapshots.taken", 1);
        }

        Assert.Equal((2, 0), (first.GetGauges().StateKeys, second.GetGauges().StateKeys));
    }
}
