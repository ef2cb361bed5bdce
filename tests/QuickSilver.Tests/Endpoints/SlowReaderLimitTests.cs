using QuickSilver.Tests.Infrastructure.Fakes;

namespace QuickSilver.Tests.Endpoints;

// I17, I24: a reader that takes longer than it may is dropped, and gets a report of its loss.
public sealed class SlowReaderLimitTests
{
    private const string Name = "flights";

    private static readonly TopicOptions Limited = new()
    {
        ReaderCapacity = 2,
        SlowReaderLimit = TimeSpan.FromSeconds(5),
    };

    [Fact]
    public async Task A_reader_without_room_for_longer_reads_what_it_has_hears_of_the_range_and_ends()
    {
        await using var parts = new FakeParts(threaded: false);
        var node = await parts.StartAsync();
        var topic = await parts.OpenSubscriberAsync<string>(node, Name, Limited);
        var told = new List<string>();
        void Tell(GapNotice gap) => told.Add($"gap {gap.First}-{gap.Last}: {gap.Reason}");
        await using var reader = topic.ReadAllAsync(onGap: Tell).GetAsyncEnumerator();
        var receiver = parts.ReceiverOf(Name);
        var first = reader.MoveNextAsync();
        long next = 1;
        await parts.Core.RunAsync(() => next = Deliver(receiver, 1, 1));
        Assert.True(await parts.Settle(first.AsTask()));
        receiver.OnResume = () => next = Deliver(receiver, next, 9);
        await parts.Core.RunAsync(receiver.OnResume);
        parts.Core.Pump();
        Assert.Equal(4, next);
        receiver.Refused = (4, 9);
        await parts.Core.RunAsync(() => parts.Core.Advance(TimeSpan.FromSeconds(4.9)));
        Assert.False(receiver.IsClosed);
        await parts.Core.RunAsync(() => parts.Core.Advance(TimeSpan.FromSeconds(0.2)));

        Assert.True(receiver.IsClosed);
        told.Add(reader.Current.Sequence.ToString());
        for (int i = 0; i < 2; i++)
        {
            Assert.True(await parts.Settle(reader.MoveNextAsync().AsTask()));
            told.Add(reader.Current.Sequence.ToString());
        }

        var end = await Assert.ThrowsAsync<SlowReaderException>(() => parts.Settle(reader.MoveNextAsync().AsTask()));
        Assert.Contains("\"flights\" blocked its senders for 00:00:05 (SlowReaderLimit)", end.Message);
        Assert.Equal("1,2,3,gap 4-9: ReaderTooSlow", string.Join(',', told));
        Assert.Equal((6L, 0L), (node.GetCounters().Gaps, node.GetCounters().ReaderDrops));
        Assert.Throws<SlowReaderException>(() => topic.SubscribeInline((in Message<string> _) => { }));
    }

    [Fact]
    public async Task A_reader_that_makes_room_in_time_continues()
    {
        await using var parts = new FakeParts(threaded: false);
        var node = await parts.StartAsync();
        var topic = await parts.OpenSubscriberAsync<string>(node, Name, Limited);
        var receiver = parts.ReceiverOf(Name);
        await using var reader = topic.ReadAllAsync().GetAsyncEnumerator();
        var next = reader.MoveNextAsync();
        long sent = 1;
        long read = 1;
        for (int round = 0; round < 5; round++)
        {
            await parts.Core.RunAsync(() => sent = Deliver(receiver, sent, sent + 9));
            await parts.Core.RunAsync(() => parts.Core.Advance(TimeSpan.FromSeconds(4)));
            for (; read < sent; read++)
            {
                Assert.True(await parts.Settle(next.AsTask()));
                next = reader.MoveNextAsync();
            }

            parts.Core.Pump();
        }

        await parts.Core.RunAsync(() => parts.Core.Advance(TimeSpan.FromSeconds(60)));
        Assert.False(receiver.IsClosed);
    }

    // It never makes so much room that its buffer says so: the topic offers it the next message from time to time.
    [Fact]
    public async Task A_reader_that_takes_a_message_from_time_to_time_is_not_ended_until_it_stops()
    {
        await using var parts = new FakeParts(threaded: false);
        var node = await parts.StartAsync();
        var options = Limited.Copy();
        options.ReaderCapacity = 8;
        var topic = await parts.OpenSubscriberAsync<string>(node, Name, options);
        var receiver = parts.ReceiverOf(Name);
        await using var reader = topic.ReadAllAsync().GetAsyncEnumerator();
        var next = reader.MoveNextAsync();
        long sent = 1;
        for (int round = 0; round < 20; round++)
        {
            await parts.Core.RunAsync(() => sent = Deliver(receiver, sent, sent + 20));
            await parts.Core.RunAsync(() => parts.Core.Advance(TimeSpan.FromSeconds(1)));
            Assert.True(await parts.Settle(next.AsTask()));
            next = reader.MoveNextAsync();
        }

        Assert.False(receiver.IsClosed);
        await parts.Core.RunAsync(() => sent = Deliver(receiver, sent, sent + 20));
        await parts.Core.RunAsync(() => parts.Core.Advance(TimeSpan.FromSeconds(4.9)));
        Assert.False(receiver.IsClosed);
        await parts.Core.RunAsync(() => parts.Core.Advance(TimeSpan.FromSeconds(0.2)));
        Assert.True(receiver.IsClosed);
    }

    [Fact]
    public async Task Another_endpoint_of_the_node_continues_without_it()
    {
        await using var parts = new FakeParts(threaded: false);
        var node = await parts.StartAsync();
        var slow = await parts.OpenSubscriberAsync<string>(node, Name, Limited);
        var other = await parts.OpenSubscriberAsync<string>(node, Name);
        var handled = new List<long>();
        using var handler = other.SubscribeInline((in Message<string> message) => handled.Add(message.Sequence));
        var receiver = parts.ReceiverOf(Name);
        await using var reader = slow.ReadAllAsync().GetAsyncEnumerator();
        _ = reader.MoveNextAsync();
        long next = 1;
        receiver.OnResume = () => next = Deliver(receiver, next, 9);
        await parts.Core.RunAsync(receiver.OnResume);
        Assert.True(next < 9);
        await parts.Core.RunAsync(() => parts.Core.Advance(TimeSpan.FromSeconds(5.1)));
        parts.Core.Pump();

        Assert.False(receiver.IsClosed);
        Assert.Equal(Enumerable.Range(1, 9).Select(i => (long)i), handled);
    }

    // Gives the number of the first that was refused.
    private static long Deliver(FakeReceiver receiver, long first, long last)
    {
        while (first <= last && receiver.Deliver(first, "x"u8))
        {
            first++;
        }

        return first;
    }
}
