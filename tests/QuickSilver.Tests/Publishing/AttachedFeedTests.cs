using QuickSilver.Diagnostics.Figures;
using QuickSilver.Feeds;
using QuickSilver.Publishing.Feeds;
using QuickSilver.Tests.Infrastructure;
using QuickSilver.Tests.Infrastructure.Fakes;

namespace QuickSilver.Tests.Publishing;

public sealed class AttachedFeedTests
{
    [Fact]
    public async Task A_feed_is_pulled_only_as_far_as_there_is_room_and_one_message_ahead()
    {
        await using var parts = new FakeParts(threaded: false);
        var node = await parts.StartAsync();
        var topic = await parts.OpenPublisherAsync<string>(node, "feed");
        var sender = parts.SenderOf("feed");
        sender.GiveRoom(3);
        int pulled = 0;
        using var feed = topic.AttachFeed((out string value) =>
        {
            value = (pulled++).ToString();
            return true;
        });
        parts.Core.Pump();
        Assert.Equal((3, 4), (sender.Sent.Count, pulled));
        sender.GiveRoom(2);
        Assert.Equal((5, 6), (sender.Sent.Count, pulled));
        Assert.Equal("01234", string.Concat(sender.Sent.Select(System.Text.Encoding.UTF8.GetString)));
    }

    [Fact]
    public async Task A_feed_that_has_nothing_is_asked_again_only_when_it_signals()
    {
        await using var parts = new FakeParts(threaded: false);
        var node = await parts.StartAsync();
        var topic = await parts.OpenPublisherAsync<string>(node, "feed");
        var pending = new Queue<string>();
        int asked = 0;
        using var feed = topic.AttachFeed((out string value) =>
        {
            asked++;
            return pending.TryDequeue(out value!);
        });
        parts.Core.Pump();
        Assert.Equal(1, asked);
        await topic.PublishAsync("between").OrFail();
        parts.Core.Pump();
        Assert.Equal(1, asked);
        pending.Enqueue("a");
        pending.Enqueue("b");
        feed.Signal();
        feed.Signal();
        parts.Core.Pump();
        Assert.Equal(4, asked);
        Assert.Equal(3, parts.SenderOf("feed").Count);
    }

    [Fact]
    public async Task An_endless_feed_on_an_endless_network_lets_the_core_thread_turn()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        var topic = await parts.OpenPublisherAsync<string>(node, "feed");
        parts.SenderOf("feed").Keeps = false;
        using var feed = topic.AttachFeed((out string value) =>
        {
            value = "x";
            return true;
        });
        await Patience.Until(() => node.GetCounters().Published > 5_000);
        Assert.Equal(1, await parts.Core.RunAsync(() => 1).OrFail());
    }

    [Fact]
    public async Task Feeds_and_publishers_share_scarce_room()
    {
        await using var parts = new FakeParts(threaded: false);
        var node = await parts.StartAsync();
        var topic = await parts.OpenPublisherAsync<string>(node, "feed");
        var sender = parts.SenderOf("feed");
        sender.GiveRoom(0);
        // One message of theirs is a turn.
        using var first = topic.AttachFeed(Endless("1".PadRight(FeedRotation.TurnBytes)));
        using var second = topic.AttachFeed(Endless("2".PadRight(FeedRotation.TurnBytes)));
        for (int i = 0; i < 100; i++)
        {
            await topic.PublishAsync("p").OrFail();
        }

        parts.Core.Pump();
        for (int i = 0; i < 40; i++)
        {
            sender.GiveRoom(1);
        }

        var counts = sender.Sent.CountBy(one => System.Text.Encoding.UTF8.GetString(one).TrimEnd()).ToDictionary();
        Assert.Equal((20, 10, 10), (counts["p"], counts["1"], counts["2"]));
    }

    [Fact]
    public async Task A_feed_that_throws_is_counted_and_asked_again_when_it_signals()
    {
        await using var parts = new FakeParts(threaded: false);
        var logs = new RecordingLogs();
        var node = await parts.StartAsync(logs: logs);
        var topic = await parts.OpenPublisherAsync<string>(node, "feed");
        int asked = 0;
        using var feed = topic.AttachFeed((out string value) =>
        {
            value = "x";
            return asked++ == 0 ? throw new InvalidDataException("broken") : asked == 2;
        });
        parts.Core.Pump();
        Assert.Equal(1, node.Read(NodeFigures.FeedFaults));
        Assert.Contains(logs.Entries, entry => entry.Id == 1613 && entry.Exception is InvalidDataException);
        feed.Signal();
        parts.Core.Pump();
        Assert.Equal(1, parts.SenderOf("feed").Count);
    }

    [Fact]
    public async Task A_disposed_feed_is_not_pulled_any_more_and_what_it_gave_is_sent()
    {
        await using var parts = new FakeParts(threaded: false);
        var (_, topic, sender) = await OpenWithRoomForOneAsync(parts);
        int pulled = 0;
        var feed = topic.AttachFeed((out string value) =>
        {
            value = (pulled++).ToString();
            return true;
        });
        parts.Core.Pump();
        await topic.PublishAsync("after").OrFail();
        feed.Dispose();
        parts.Core.Pump();
        sender.GiveRoom(10);
        feed.Signal();
        parts.Core.Pump();
        Assert.Equal(["0", "1", "after"], sender.Sent.Select(System.Text.Encoding.UTF8.GetString));
        Assert.Equal(2, pulled);
    }

    [Fact]
    public async Task A_drain_waits_for_what_a_feed_gave_and_there_was_no_room_for()
    {
        await using var parts = new FakeParts(threaded: false);
        var (_, topic, sender) = await OpenWithRoomForOneAsync(parts);
        topic.AttachFeed(Endless("x"));
        parts.Core.Pump();
        var drain = topic.DrainAsync();
        for (int i = 0; i < 100; i++)
        {
            parts.Core.Pump();
            await Task.Yield();
        }

        sender.MakeStable();
        Assert.False(drain.IsCompleted);
        sender.GiveRoom(10);
        Assert.Equal(2, sender.Count);
        // The drain may get as far as asking for stability only now.
        while (!drain.IsCompleted)
        {
            parts.Core.Pump();
            sender.MakeStable();
            await Task.Yield();
        }

        await drain;
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_cancelled_topic_drops_what_its_feed_gave_and_there_was_no_room_for(bool roomFirst)
    {
        await using var parts = new FakeParts(threaded: false);
        var (node, topic, sender) = await OpenWithRoomForOneAsync(parts);
        topic.AttachFeed(Endless("x"));
        parts.Core.Pump();
        topic.Cancel();
        if (!roomFirst)
        {
            parts.Core.Pump();
        }

        sender.GiveRoom(10);
        parts.Core.Pump();
        Assert.Equal(1, sender.Count);
        Assert.Equal(0, node.GetGauges().PublishQueueBytes);
    }

    private static async Task<(QuickSilverNode Node, ITopicPublisher<string> Topic, FakeSender Sender)> OpenWithRoomForOneAsync(
        FakeParts parts)
    {
        var node = await parts.StartAsync();
        var topic = await parts.OpenPublisherAsync<string>(node, "feed");
        var sender = parts.SenderOf("feed");
        sender.GiveRoom(1);
        return (node, topic, sender);
    }

    private static FeedCallback<string> Endless(string text) => (out string value) =>
    {
        value = text;
        return true;
    };
}
