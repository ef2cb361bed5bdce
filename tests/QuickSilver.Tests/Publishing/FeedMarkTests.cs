using QuickSilver.Feeds;
using QuickSilver.Tests.Infrastructure;
using QuickSilver.Tests.Infrastructure.Fakes;

namespace QuickSilver.Tests.Publishing;

// The notifications of a feed about its messages, and its end.
public sealed class FeedMarkTests : IAsyncLifetime
{
    private const string Name = "feed";

    private readonly FakeParts _parts = new(threaded: false);
    private QuickSilverNode _node = null!;
    private ITopicPublisher<string> _topic = null!;

    private FakeSender Sender => _parts.SenderOf(Name);

    public async ValueTask InitializeAsync()
    {
        _node = await _parts.StartAsync();
        _topic = await _parts.OpenPublisherAsync<string>(_node, Name);
    }

    public async ValueTask DisposeAsync() => await _parts.DisposeAsync();

    [Fact]
    public void A_feed_is_notified_once_for_all_messages_that_are_stable_and_after_the_protocol_s_step()
    {
        Sender.RoomBytes = 100;
        var feed = ScriptedFeed.Counting(messages: 50);
        Attach(feed);
        // 21 bytes for each of the first nine, 22 after those: five in each turn.
        Assert.Equal(10, Sender.Observed.Count);
        Sender.MakeStable();
        Assert.Empty(feed.Stable);
        _parts.Core.Pump();
        Assert.Equal([50], feed.Stable);
    }

    [Fact]
    public void Only_the_last_message_that_a_feed_has_asks_for_an_acknowledgement()
    {
        Sender.RoomBytes = 100;
        Attach(ScriptedFeed.Counting(messages: 15));
        Assert.Equal([(0, false), (1, false), (2, true)], Sender.Observed);
    }

    [Fact]
    public void Marks_that_are_reached_out_of_order_are_reported_in_order()
    {
        Sender.RoomBytes = 1;
        var feed = ScriptedFeed.Counting(messages: 20);
        Attach(feed);
        foreach (int at in (int[])[0, 2, 1, 19, 18, 3])
        {
            Sender.Reach(at);
            _parts.Core.Pump();
        }

        Assert.Equal([1, 3, 4], feed.Stable);
        Sender.MakeStable();
        _parts.Core.Pump();
        Assert.Equal([1, 3, 4, 20], feed.Stable);
    }

    [Fact]
    public void Without_memory_to_note_what_it_gives_a_feed_waits_and_then_it_gives_all()
    {
        var heap = new RefusingHeap { Refuses = true };
        _parts.Core.Heap = heap;
        Sender.RoomBytes = 1;
        var feed = ScriptedFeed.Counting(messages: 20);
        var attached = Attach(feed);
        long before = Sender.Count;
        for (int i = 0; i < 50; i++)
        {
            // The topic is asked again for other reasons.
            attached.Signal();
            _parts.Core.Advance(TimeSpan.FromMilliseconds(1));
            _parts.Core.Pump();
        }

        Assert.InRange(before, 1, 19);
        Assert.Equal((before, 1), (Sender.Count, heap.Asked));
        heap.Refuses = false;
        _parts.Core.Advance(TimeSpan.FromMilliseconds(100));
        _parts.Core.Pump();
        Assert.Equal(20, Sender.Count);
        Sender.MakeStable();
        _parts.Core.Pump();
        Assert.Equal([20], feed.Stable);
    }

    [Fact]
    public void Without_memory_to_note_it_a_kept_message_of_a_detached_feed_waits_and_is_sent_and_reported()
    {
        Sender.GiveRoom(1);
        var feed = ScriptedFeed.Counting(messages: 20);
        var attached = Attach(feed);
        while (Sender.Count < 4)
        {
            Sender.GiveRoom(1);
        }

        attached.Dispose();
        _parts.Core.Pump();
        var heap = new RefusingHeap { Refuses = true };
        _parts.Core.Heap = heap;
        Sender.GiveRoom(1);
        _parts.Core.Pump();
        Assert.Equal((4, 1), (Sender.Count, heap.Asked));
        heap.Refuses = false;
        _parts.Core.Advance(TimeSpan.FromMilliseconds(100));
        _parts.Core.Pump();
        Sender.MakeStable();
        _parts.Core.Pump();
        Assert.Equal(5, Sender.Count);
        Assert.Equal([5], feed.Stable);
        Assert.Equal([null], feed.Ends);
    }

    [Fact]
    public void A_message_that_is_kept_is_not_stable_when_those_before_it_are()
    {
        Sender.GiveRoom(2);
        var feed = ScriptedFeed.Counting(messages: 3);
        Attach(feed);
        Sender.MakeStable();
        _parts.Core.Pump();
        Assert.Equal([2], feed.Stable);
        Sender.GiveRoom(1);
        Sender.MakeStable();
        _parts.Core.Pump();
        Assert.Equal([2, 3], feed.Stable);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_detached_feed_is_notified_when_all_is_stable_and_then_of_its_end(bool byDrain)
    {
        Sender.GiveRoom(2);
        var feed = ScriptedFeed.Counting(messages: 10);
        var attached = Attach(feed);
        Task? drain = byDrain ? _topic.DrainAsync() : null;
        attached.Dispose();
        _parts.Core.Pump();
        Sender.MakeStable();
        _parts.Core.Pump();
        Assert.Equal([2], feed.Stable);
        Assert.Empty(feed.Ends);
        // The message that was kept.
        Sender.GiveRoom(5);
        _parts.Core.Pump();
        Sender.MakeStable();
        _parts.Core.Pump();
        Assert.Equal([2, 3], feed.Stable);
        Assert.Equal([null], feed.Ends);
        Assert.Equal((1, 3L), (feed.Asked, Sender.Count));
        if (drain is not null)
        {
            while (!drain.IsCompleted)
            {
                _parts.Core.Pump();
                Sender.MakeStable();
                await Task.Yield();
            }

            await drain;
        }
    }

    [Fact]
    public void A_feed_is_attached_once_at_a_time()
    {
        var feed = ScriptedFeed.Counting(messages: 1);
        var attached = Attach(feed);
        var refused = Assert.Throws<InvalidOperationException>(() => Attach(feed));
        Assert.Contains($"attached to the topic \"{Name}\" already", refused.Message);
        attached.Dispose();
        _parts.Core.Pump();
        Sender.MakeStable();
        _parts.Core.Pump();
        Assert.Equal([null], feed.Ends);
        Attach(feed);
    }

    [Fact]
    public void A_feed_that_holds_the_core_thread_is_named_with_its_topic()
    {
        var attached = Attach(ScriptedFeed.Counting(messages: 1));
        Assert.Equal($"feed {typeof(ScriptedFeed)} of topic \"{Name}\"", attached.ToString());
        FeedCallback<string> callback = static (out string value) =>
        {
            value = "";
            return false;
        };
        Assert.Equal(
            $"feed {nameof(FeedMarkTests)}.{nameof(A_feed_that_holds_the_core_thread_is_named_with_its_topic)} of topic \"{Name}\"",
            _topic.AttachFeed(callback).ToString());
    }

    [Fact]
    public void A_feed_that_gave_nothing_ends_when_it_is_detached()
    {
        var feed = ScriptedFeed.Counting(messages: 0);
        Attach(feed).Dispose();
        _parts.Core.Pump();
        Assert.Empty(feed.Stable);
        Assert.Equal([null], feed.Ends);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_cancelled_topic_ends_its_feeds_with_the_reason_unless_all_is_stable(bool isStable)
    {
        Sender.Stabilizes = isStable;
        var feed = ScriptedFeed.Counting(messages: 10);
        Attach(feed);
        _topic.Cancel();
        _parts.Core.Pump();
        if (isStable)
        {
            Assert.Equal([10], feed.Stable);
            Assert.Equal([null], feed.Ends);
        }
        else
        {
            Assert.IsType<OperationCanceledException>(Assert.Single(feed.Ends));
        }

        Sender.MakeStable();
        _parts.Core.Pump();
        Assert.Single(feed.Ends);
    }

    [Fact]
    public void A_cancelled_topic_s_feed_that_had_no_room_gets_no_notice_that_all_is_stable()
    {
        Sender.GiveRoom(2);
        Sender.Stabilizes = true;
        var feed = ScriptedFeed.Counting(messages: 10);
        Attach(feed);
        _topic.Cancel();
        _parts.Core.Pump();
        Assert.Equal([2], feed.Stable);
        Assert.IsType<OperationCanceledException>(Assert.Single(feed.Ends));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void An_expelled_node_ends_its_feeds_with_the_reason_even_if_all_is_stable(bool isStable)
    {
        Sender.Stabilizes = isStable;
        var feed = ScriptedFeed.Counting(messages: 10);
        Attach(feed);
        _parts.Service.Observer!.OnExpelled("ten heartbeats missed");
        _parts.Core.Pump();
        Assert.IsType<NodeExpelledException>(Assert.Single(feed.Ends));
        Assert.Equal(isStable ? [10L] : [], feed.Stable);
    }

    [Fact]
    public void A_stream_that_is_closed_ends_the_feed_with_its_reason()
    {
        var feed = ScriptedFeed.Counting(messages: 10);
        Attach(feed);
        Sender.Abandon("the node was closed");
        _parts.Core.Pump();
        Assert.Contains("the node was closed", Assert.IsType<InvalidOperationException>(Assert.Single(feed.Ends)).Message);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_message_for_which_there_can_be_no_room_any_more_ends_the_feed(bool isDetached)
    {
        Sender.GiveRoom(2);
        var feed = ScriptedFeed.Counting(messages: 10, bytes: 200);
        var attached = Attach(feed);
        if (isDetached)
        {
            attached.Dispose();
            _parts.Core.Pump();
        }

        Sender.MostBytes = 100;
        Sender.GiveRoom(5);
        _parts.Core.Pump();
        Sender.MakeStable();
        _parts.Core.Pump();
        Assert.Equal([2], feed.Stable);
        Assert.IsType<MessageTooLargeException>(Assert.Single(feed.Ends));
        Assert.Equal(2, Sender.Count);
    }

    [Fact]
    public void A_feed_may_detach_itself_in_its_turn()
    {
        IAttachedFeed attached = null!;
        var feed = new ScriptedFeed(writer =>
        {
            writer.Write("last");
            attached.Dispose();
            return true;
        });
        Sender.Stabilizes = true;
        attached = _topic.AttachFeed(feed);
        _parts.Core.Pump();
        Assert.Equal((1, 1L), (feed.Asked, Sender.Count));
        Assert.Equal([1], feed.Stable);
        Assert.Equal([null], feed.Ends);
    }

    [Fact]
    public async Task A_disposed_node_ends_its_feeds()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        var topic = await parts.OpenPublisherAsync<string>(node, Name);
        var unstable = ScriptedFeed.Counting(messages: 10);
        topic.AttachFeed(unstable);
        var idle = ScriptedFeed.Counting(messages: 0);
        topic.AttachFeed(idle);
        await Patience.Until(() => parts.SenderOf(Name).Count == 10 && idle.Asked == 1);
        var disposal = node.DisposeAsync();
        while (!disposal.IsCompleted)
        {
            parts.Time.Advance(TimeSpan.FromMilliseconds(50));
            await Task.Delay(1);
        }

        Assert.IsType<ObjectDisposedException>(Assert.Single(unstable.Ends));
        Assert.Equal([null], idle.Ends);
    }

    [Fact]
    public async Task A_node_that_is_disposed_while_its_core_thread_is_blocked_ends_its_feeds_all_the_same()
    {
        var parts = new FakeParts();
        var node = await parts.StartAsync();
        var topic = await parts.OpenPublisherAsync<string>(node, Name);
        var feed = ScriptedFeed.Counting(messages: 10);
        topic.AttachFeed(feed);
        await Patience.Until(() => parts.SenderOf(Name).Count == 10);
        using var blocked = new ManualResetEventSlim();
        using var isBlocked = new ManualResetEventSlim();
        parts.Core.Post(new Core.Requests.ActionRequest(() =>
        {
            isBlocked.Set();
            blocked.Wait();
        }));
        isBlocked.Wait();
        var disposal = node.DisposeAsync();
        while (!disposal.IsCompleted)
        {
            parts.Time.Advance(TimeSpan.FromMilliseconds(50));
            await Task.Delay(1);
        }

        Assert.IsType<ObjectDisposedException>(Assert.Single(feed.Ends));
        blocked.Set();
        await parts.DisposeAsync();
        Assert.Single(feed.Ends);
    }

    private IAttachedFeed Attach(ScriptedFeed feed)
    {
        var attached = _topic.AttachFeed(feed);
        _parts.Core.Pump();
        return attached;
    }
}
