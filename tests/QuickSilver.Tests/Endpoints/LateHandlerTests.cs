using QuickSilver.Multicast.Channels;
using QuickSilver.Tests.Infrastructure;
using QuickSilver.Tests.Infrastructure.Fakes;

namespace QuickSilver.Tests.Endpoints;

// I1, I2, I4, F7: nothing that a granted endpoint was given before its handler came is lost in silence.
public sealed class LateHandlerTests
{
    private const string Name = "ticks";

    [Fact]
    public async Task The_first_handler_first_receives_the_messages_buffered_since_opening_in_order()
    {
        await using var parts = new FakeParts(threaded: false);
        var node = await parts.StartAsync();
        var topic = await parts.OpenAsync<string>(node, Name);
        var seen = new List<string>();
        Deliver(parts, 1, 2);
        parts.ReceiverOf(Name).Gap(3, 4, TopicGapReason.SenderGone);
        Deliver(parts, 5, 5);
        using var handler = topic.SubscribeInline((in Message<string> message) => seen.Add(message.Value), gap => seen.Add(Text(gap)));
        // Newer ones may come before the core thread finds the time for the older ones.
        Deliver(parts, 6, 6);
        parts.ReceiverOf(Name).Gap(7, 7, TopicGapReason.SenderGone);
        parts.Core.Pump();
        Deliver(parts, 8, 8);
        Assert.Equal(["1", "2", "gap 3-4", "5", "6", "gap 7-7", "8"], seen);
    }

    [Fact]
    public async Task Buffered_messages_reach_the_first_handler_without_a_later_message()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        var topic = await parts.OpenAsync<ReadOnlyMemory<byte>>(node, Name);
        var seen = new List<int>();
        await parts.Core.RunAsync(() =>
        {
            for (int i = 1; i <= 20; i++)
            {
                Assert.True(parts.ReceiverOf(Name).Deliver(i, new byte[] { (byte)i }));
            }
        });
        using var handler = topic.SubscribeInline((in Message<ReadOnlyMemory<byte>> message) => seen.Add(message.Value.Span[0]));
        await parts.Core.RunAsync(() => { });
        Assert.Equal(Enumerable.Range(1, 20), seen);
    }

    [Fact]
    public async Task Messages_that_did_not_fit_the_buffer_are_a_gap_for_the_first_handler()
    {
        await using var parts = new FakeParts(threaded: false);
        var node = await parts.StartAsync();
        var topic = await parts.OpenAsync<string>(node, Name, new TopicOptions { ReaderCapacity = 3 });
        var seen = new List<string>();
        Deliver(parts, 1, 10);
        using var handler = topic.SubscribeInline((in Message<string> message) => seen.Add(message.Value), gap => seen.Add(Text(gap)));
        parts.Core.Pump();
        Assert.Equal(["gap 1-7", "8", "9", "10"], seen);
        Assert.Equal(7, node.GetCounters().ReaderDrops);
    }

    [Fact]
    public async Task A_second_handler_begins_with_what_comes_after_it()
    {
        await using var parts = new FakeParts(threaded: false);
        var node = await parts.StartAsync();
        var topic = await parts.OpenAsync<string>(node, Name);
        var first = new List<string>();
        var second = new List<string>();
        Deliver(parts, 1, 1);
        using var a = topic.SubscribeInline((in Message<string> message) => first.Add(message.Value));
        using var b = topic.SubscribeInline((in Message<string> message) => second.Add(message.Value));
        Deliver(parts, 2, 2);
        Assert.Equal(["1", "2"], first);
        Assert.Equal(["2"], second);
    }

    [Fact]
    public async Task A_handler_does_not_take_messages_that_wait_for_the_next_reader()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        var topic = await parts.OpenAsync<string>(node, Name);
        await parts.Core.RunAsync(() => Deliver(parts, 1, 3));
        await using (var reader = topic.ReadAllAsync().GetAsyncEnumerator())
        {
            Assert.True(await reader.MoveNextAsync().OrFail());
        }

        var handled = new List<string>();
        using var handler = topic.SubscribeInline((in Message<string> message) => handled.Add(message.Value));
        await parts.Core.RunAsync(() => Deliver(parts, 4, 4));
        Assert.Equal(["4"], handled);
        await using var next = topic.ReadAllAsync().GetAsyncEnumerator();
        for (int i = 2; i <= 4; i++)
        {
            Assert.True(await next.MoveNextAsync().OrFail());
            Assert.Equal($"{i}", next.Current.Value);
        }
    }

    [Fact]
    public async Task A_handler_that_cancels_at_a_buffered_message_gets_none_after_it()
    {
        await using var parts = new FakeParts(threaded: false);
        var node = await parts.StartAsync();
        var topic = await parts.OpenAsync<string>(node, Name);
        int handled = 0;
        Deliver(parts, 1, 5);
        using var handler = topic.SubscribeInline((in Message<string> _) =>
        {
            handled++;
            topic.Cancel();
        });
        parts.Core.Pump();
        Assert.Equal(1, handled);
    }

    [Fact]
    public async Task A_handler_that_comes_while_messages_do_gets_each_of_them_once()
    {
        for (int round = 0; round < 50; round++)
        {
            await using var parts = new FakeParts();
            var node = await parts.StartAsync();
            var topic = await parts.OpenAsync<string>(node, Name);
            var seen = new List<long>();
            const int Count = 500;
            var delivering = parts.Core.RunAsync(() => Deliver(parts, 1, Count));
            await Task.Yield();
            using var handler = topic.SubscribeInline((in Message<string> message) => seen.Add(message.Sequence));
            await delivering;
            await parts.Core.RunAsync(() => { });
            Assert.Equal(Enumerable.Range(1, Count).Select(i => (long)i), seen);
        }
    }

    private static void Deliver(FakeParts parts, int first, int last)
    {
        for (int i = first; i <= last; i++)
        {
            Assert.True(parts.ReceiverOf(Name).Deliver(i, System.Text.Encoding.UTF8.GetBytes($"{i}")));
        }
    }

    private static string Text(GapNotice gap) => $"gap {gap.First}-{gap.Last}";
}
