using QuickSilver.Diagnostics.Figures;
using QuickSilver.Multicast.Channels;
using QuickSilver.Tests.Infrastructure;
using QuickSilver.Tests.Infrastructure.Fakes;

namespace QuickSilver.Tests.Endpoints;

// F7.
public sealed class HandlerTests
{
    private const string Name = "ticks";

    [Fact]
    public async Task Handlers_and_a_reader_each_get_every_message()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        var topic = await parts.OpenAsync<string>(node, Name);
        var first = new List<string>();
        var second = new List<string>();
        await using var reader = topic.ReadAllAsync().GetAsyncEnumerator();
        using var a = topic.SubscribeInline((in Message<string> message) => first.Add(message.Value));
        using var b = topic.SubscribeInline((in Message<string> message) => second.Add(message.Value));
        await parts.Core.RunAsync(() => parts.ReceiverOf(Name).Deliver(1, "x"u8));
        Assert.True(await reader.MoveNextAsync().OrFail());
        Assert.Equal(["x"], first);
        Assert.Equal(["x"], second);
    }

    [Fact]
    public async Task A_handler_that_throws_is_counted_and_logged_and_the_others_continue()
    {
        await using var parts = new FakeParts();
        var logs = new RecordingLogs();
        var node = await parts.StartAsync(logs: logs);
        var topic = await parts.OpenAsync<string>(node, Name);
        int handled = 0;
        using var broken = topic.SubscribeInline((in Message<string> _) => throw new InvalidDataException("broken"));
        using var sound = topic.SubscribeInline((in Message<string> _) => handled++);
        await parts.Core.RunAsync(() =>
        {
            for (int i = 1; i <= 1000; i++)
            {
                Assert.True(parts.ReceiverOf(Name).Deliver(i, "x"u8));
            }
        });
        Assert.Equal(1000, handled);
        Assert.Equal(1000, node.GetCounters().HandlerFaults);
        var logged = logs.Entries.Where(entry => entry.Id == 1612).ToArray();
        Assert.InRange(logged.Length, 8, 20);
        Assert.All(logged, entry => Assert.IsType<InvalidDataException>(entry.Exception));
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public async Task A_message_counts_as_delivered_once_before_its_handlers_run(int handlers)
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        var topic = await parts.OpenAsync<string>(node, Name);
        var delivered = new List<long>();
        var open = Enumerable.Range(0, handlers)
            .Select(_ => topic.SubscribeInline((in Message<string> _) => delivered.Add(node.GetCounters().Delivered)))
            .ToList();
        // One by one: a single handler gets those after the first on a shorter path.
        for (int i = 1; i <= 3; i++)
        {
            await parts.Core.RunAsync(() => parts.ReceiverOf(Name).Deliver(i, "x"u8));
        }

        Assert.Equal(Enumerable.Range(1, 3).SelectMany(i => Enumerable.Repeat((long)i, handlers)), delivered);
        Assert.Equal(3, node.GetCounters().Delivered);
        open.ForEach(static subscription => subscription.Dispose());
    }

    [Fact]
    public async Task Consumers_added_beside_a_single_handler_get_all_later_messages_and_take_none_from_it()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        var topic = await parts.OpenAsync<string>(node, Name);
        var first = new List<long>();
        var second = new List<long>();
        var elsewhere = new List<long>();
        var read = new List<long>();
        long next = 1;
        using var lone = topic.SubscribeInline((in Message<string> message) => first.Add(message.Sequence));
        await DeliverAsync();
        var joined = topic.SubscribeInline((in Message<string> message) => second.Add(message.Sequence));
        await DeliverAsync();
        joined.Dispose();
        await DeliverAsync();
        var other = await parts.OpenAsync<string>(node, Name);
        using var there = other.SubscribeInline((in Message<string> message) => elsewhere.Add(message.Sequence));
        await DeliverAsync();
        await other.DisposeAsync();
        await DeliverAsync();
        await using var reader = topic.ReadAllAsync().GetAsyncEnumerator();
        var moving = reader.MoveNextAsync();
        await DeliverAsync();
        Assert.True(await moving.OrFail());
        read.Add(reader.Current.Sequence);
        Assert.True(await reader.MoveNextAsync().OrFail());
        read.Add(reader.Current.Sequence);
        topic.Cancel();
        await DeliverAsync();
        Assert.Equal([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], first);
        Assert.Equal([3, 4], second);
        Assert.Equal([7, 8], elsewhere);
        Assert.Equal([11, 12], read);
        // Taken from below by an endpoint that was cancelled, too.
        Assert.Equal(14, node.GetCounters().Delivered);

        // Twice: the first finds out who is alone, and the second goes straight.
        Task DeliverAsync() => parts.Core.RunAsync(() =>
        {
            Assert.True(parts.ReceiverOf(Name).Deliver(next++, "x"u8));
            Assert.True(parts.ReceiverOf(Name).Deliver(next++, "x"u8));
        });
    }

    [Fact]
    public async Task A_detached_handler_gets_nothing_more()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        var topic = await parts.OpenAsync<string>(node, Name);
        int handled = 0;
        var handler = topic.SubscribeInline((in Message<string> _) => handled++);
        await parts.Core.RunAsync(() => parts.ReceiverOf(Name).Deliver(1, "x"u8));
        handler.Dispose();
        await parts.Core.RunAsync(() => parts.ReceiverOf(Name).Deliver(2, "x"u8));
        Assert.Equal(1, handled);
    }

    [Fact]
    public async Task Handlers_are_notified_of_gaps()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        var topic = await parts.OpenAsync<string>(node, Name);
        var gaps = new List<GapNotice>();
        using var handler = topic.SubscribeInline((in Message<string> _) => { }, gaps.Add);
        await parts.Core.RunAsync(() => parts.ReceiverOf(Name).Gap(2, 4, TopicGapReason.SenderGone));
        Assert.Equal(new GapNotice(new NodeId(0xA, 1), 2, 4, GapReason.SenderLeft), Assert.Single(gaps));
        Assert.Equal(3, gaps[0].Count);
    }

    [Fact]
    public async Task A_payload_that_cannot_be_decoded_is_a_gap_and_not_the_end()
    {
        await using var parts = new FakeParts();
        var logs = new RecordingLogs();
        var node = await parts.StartAsync(logs: logs);
        var topic = await parts.OpenAsync<string>(node, Name);
        var handled = new List<string>();
        var gaps = new List<GapNotice>();
        using var handler = topic.SubscribeInline((in Message<string> message) => handled.Add(message.Value), gaps.Add);
        await parts.Core.RunAsync(() =>
        {
            Assert.True(parts.ReceiverOf(Name).Deliver(1, [0xFF, 0xFE]));
            Assert.True(parts.ReceiverOf(Name).Deliver(2, "x"u8));
        });
        Assert.Equal(["x"], handled);
        Assert.Equal((1L, 1L, GapReason.Undecodable), (gaps[0].First, gaps[0].Last, gaps[0].Reason));
        Assert.Equal((1L, 1L), (node.Read(NodeFigures.DecodeFaults), node.GetCounters().Gaps));
        Assert.Contains(logs.Entries, entry => entry.Id == 1614);
    }

    [Fact]
    public async Task A_message_that_two_endpoints_cannot_decode_is_one_lost_message()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        var gaps = new List<GapNotice>();
        foreach (var topic in new[] { await parts.OpenAsync<string>(node, Name), await parts.OpenAsync<string>(node, Name) })
        {
            topic.SubscribeInline((in Message<string> _) => { }, gaps.Add);
        }

        await parts.Core.RunAsync(() =>
        {
            Assert.True(parts.ReceiverOf(Name).Deliver(1, [0xFF, 0xFE]));
            Assert.True(parts.ReceiverOf(Name).Deliver(2, [0xFF, 0xFE]));
        });
        Assert.Equal(4, gaps.Count);
        Assert.Equal((4L, 2L), (node.Read(NodeFigures.DecodeFaults), node.GetCounters().Gaps));
    }

    [Fact]
    public async Task An_endpoint_with_a_handler_and_no_reader_buffers_nothing()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        var topic = await parts.OpenAsync<string>(node, Name);
        using var handler = topic.SubscribeInline((in Message<string> _) => { });
        await parts.Core.RunAsync(() => parts.ReceiverOf(Name).Deliver(1, "before"u8));
        await using var reader = topic.ReadAllAsync().GetAsyncEnumerator();
        await parts.Core.RunAsync(() => parts.ReceiverOf(Name).Deliver(2, "after"u8));
        Assert.True(await reader.MoveNextAsync().OrFail());
        Assert.Equal("after", reader.Current.Value);
    }

    [Fact]
    public async Task Bytes_reach_a_handler_whatever_their_size()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        var topic = await parts.OpenAsync<ReadOnlyMemory<byte>>(node, Name);
        var sizes = new List<int>();
        using var handler = topic.SubscribeInline((in Message<ReadOnlyMemory<byte>> message) =>
        {
            sizes.Add(message.Value.Length);
            Assert.True(message.Value.Span.IndexOfAnyExcept((byte)7) < 0);
        });
        int[] sent = [0, 1, 255, 256, 65_536, 65_537, 1 << 20, 3];
        await parts.Core.RunAsync(() =>
        {
            foreach (int size in sent)
            {
                var payload = new byte[size];
                payload.AsSpan().Fill(7);
                parts.ReceiverOf(Name).Deliver(1, payload);
            }
        });
        Assert.Equal(sent, sizes);
        Assert.Equal(0, node.GetCounters().HandlerFaults);
    }
}
