using QuickSilver.Multicast.Channels;
using QuickSilver.Tests.Infrastructure;
using QuickSilver.Tests.Infrastructure.Fakes;

namespace QuickSilver.Tests.Endpoints;

// I1, I4, F7.
public sealed class ReaderTests
{
    private const string Name = "flights";

    [Fact]
    public async Task A_reader_gets_what_came_before_it_and_what_comes_while_it_waits()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        var topic = await parts.OpenSubscriberAsync<string>(node, Name);
        await parts.Core.RunAsync(() => parts.ReceiverOf(Name).Deliver(1, "one"u8));
        await using var reader = topic.ReadAllAsync().GetAsyncEnumerator();
        Assert.True(await reader.MoveNextAsync().OrFail());
        Assert.Equal(("one", 1L, new NodeId(0xA, 1)), (reader.Current.Value, reader.Current.Sequence, reader.Current.Sender));
        var next = reader.MoveNextAsync();
        Assert.False(next.IsCompleted);
        await parts.Core.RunAsync(() => parts.ReceiverOf(Name).Deliver(2, "two"u8));
        Assert.True(await next.OrFail());
        Assert.Equal("two", reader.Current.Value);
    }

    [Fact]
    public async Task A_full_reader_that_waits_stops_the_sender_and_resumes_it_without_loss()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        var topic = await parts.OpenSubscriberAsync<byte[]>(node, Name, new TopicOptions { ReaderCapacity = 8 });
        var receiver = parts.ReceiverOf(Name);
        int next = 1;
        void DeliverAll()
        {
            while (next <= 500 && receiver.Deliver(next, [(byte)next]))
            {
                next++;
            }
        }

        receiver.OnResume = DeliverAll;
        await using var reader = topic.ReadAllAsync().GetAsyncEnumerator();
        await parts.Core.RunAsync(DeliverAll);
        Assert.Equal(9, next);
        for (int i = 1; i <= 500; i++)
        {
            Assert.True(await reader.MoveNextAsync().OrFail());
            Assert.Equal(i, reader.Current.Sequence);
        }

        Assert.Equal(0, node.GetCounters().ReaderDrops);
    }

    [Theory]
    [InlineData(SlowReaderPolicy.DropOldest, "gap 1-6 ReaderFull,7,8")]
    [InlineData(SlowReaderPolicy.DropWrite, "1,2,gap 3-8 ReaderFull,9")]
    public async Task A_dropping_reader_never_blocks_the_sender_and_gets_its_gaps_in_order(SlowReaderPolicy policy, string expected)
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        var topic = await parts.OpenSubscriberAsync<string>(node, Name, new TopicOptions { ReaderCapacity = 2, SlowReader = policy });
        var told = new List<string>();
        void Tell(GapNotice gap) => told.Add($"gap {gap.First}-{gap.Last} {gap.Reason}");
        await using var reader = topic.ReadAllAsync(Tell).GetAsyncEnumerator();
        await parts.Core.RunAsync(() =>
        {
            for (int i = 1; i <= 8; i++)
            {
                Assert.True(parts.ReceiverOf(Name).Deliver(i, "x"u8));
            }
        });
        for (int i = 0; i < 2; i++)
        {
            Assert.True(await reader.MoveNextAsync().OrFail());
            told.Add(reader.Current.Sequence.ToString());
        }

        Assert.Equal(6, node.GetCounters().ReaderDrops);
        if (policy == SlowReaderPolicy.DropWrite)
        {
            await parts.Core.RunAsync(() => parts.ReceiverOf(Name).Deliver(9, "x"u8));
            Assert.True(await reader.MoveNextAsync().OrFail());
            told.Add(reader.Current.Sequence.ToString());
        }

        Assert.Equal(expected, string.Join(',', told));
    }

    [Fact]
    public async Task A_gap_reaches_a_waiting_reader_although_no_message_follows()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        var topic = await parts.OpenSubscriberAsync<string>(node, Name);
        var told = new TaskCompletionSource<GapNotice>();
        await using var reader = topic.ReadAllAsync(onGap: told.SetResult).GetAsyncEnumerator();
        var next = reader.MoveNextAsync();
        await parts.Core.RunAsync(() => parts.ReceiverOf(Name).Gap(3, 9, TopicGapReason.SenderGone));
        Assert.Equal(new GapNotice(new NodeId(0xA, 1), 3, 9, GapReason.SenderLeft), await told.Task.OrFail());
        Assert.False(next.IsCompleted);
        Assert.Equal(7, node.GetCounters().Gaps);
        topic.Cancel();
        Assert.False(await next.OrFail());
    }

    [Fact]
    public async Task One_reader_at_a_time_and_the_next_may_come_when_it_has_gone()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        var topic = await parts.OpenSubscriberAsync<string>(node, Name);
        var first = topic.ReadAllAsync().GetAsyncEnumerator();
        Assert.Throws<InvalidOperationException>(() => topic.ReadAllAsync().GetAsyncEnumerator());
        await first.DisposeAsync();
        await using var second = topic.ReadAllAsync().GetAsyncEnumerator();
        await parts.Core.RunAsync(() => parts.ReceiverOf(Name).Deliver(1, "x"u8));
        Assert.True(await second.MoveNextAsync().OrFail());
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Cancelling_ends_a_waiting_read_and_loses_no_message(bool byEnumerator)
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        var topic = await parts.OpenSubscriberAsync<string>(node, Name);
        using var stop = new CancellationTokenSource();
        var stream = byEnumerator ? topic.ReadAllAsync() : topic.ReadAllAsync(stop.Token);
        var reader = stream.GetAsyncEnumerator(byEnumerator ? stop.Token : default);
        var next = reader.MoveNextAsync().AsTask();
        await stop.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => next).OrFail();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => reader.MoveNextAsync().AsTask()).OrFail();
        await reader.DisposeAsync();
        await parts.Core.RunAsync(() => parts.ReceiverOf(Name).Deliver(1, "x"u8));
        await using var again = topic.ReadAllAsync().GetAsyncEnumerator();
        Assert.True(await again.MoveNextAsync().OrFail());
        Assert.Equal(1, again.Current.Sequence);
    }

    [Fact]
    public async Task Disposing_the_topic_lets_the_reader_finish_what_it_has()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        var topic = await parts.OpenSubscriberAsync<string>(node, Name);
        await parts.Core.RunAsync(() => parts.ReceiverOf(Name).Deliver(1, "x"u8));
        await using var reader = topic.ReadAllAsync().GetAsyncEnumerator();
        await topic.DisposeAsync().OrFail();
        Assert.True(await reader.MoveNextAsync().OrFail());
        Assert.False(await reader.MoveNextAsync().OrFail());
    }

    [Fact]
    public async Task Cancelling_the_topic_drops_what_was_not_read_and_ends_the_reader()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        var topic = await parts.OpenSubscriberAsync<string>(node, Name);
        await parts.Core.RunAsync(() => parts.ReceiverOf(Name).Deliver(1, "x"u8));
        await using var reader = topic.ReadAllAsync().GetAsyncEnumerator();
        topic.Cancel();
        Assert.False(await reader.MoveNextAsync().OrFail());
    }

    [Fact]
    public async Task Messages_read_while_they_arrive_are_all_read_once_and_in_order()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        var topic = await parts.OpenSubscriberAsync<ReadOnlyMemory<byte>>(node, Name, new TopicOptions { ReaderCapacity = 16 });
        var receiver = parts.ReceiverOf(Name);
        int next = 1;
        receiver.OnResume = () =>
        {
            while (next <= 20_000 && receiver.Deliver(next, BitConverter.GetBytes(next)))
            {
                next++;
            }
        };
        using var limit = new CancellationTokenSource(TimeSpan.FromSeconds(20));
        int expected = 1;
        var stream = topic.ReadAllAsync(limit.Token).GetAsyncEnumerator(limit.Token);
        await parts.Core.RunAsync(receiver.OnResume);
        while (expected <= 20_000 && await stream.MoveNextAsync())
        {
            Assert.Equal(expected, BitConverter.ToInt32(stream.Current.Value.Span));
            expected++;
        }

        await stream.DisposeAsync();
        Assert.Equal(20_001, expected);
    }
}
