using System.Collections.Concurrent;
using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Tests.Endpoints.Endings;

// I25. Here the buffer has 8 messages, and what it refuses waits below it.
public sealed class SubscriberEndTests
{
    private const int UnhandledEvent = 1650;
    private static readonly TopicOptions Small = new() { ReaderCapacity = 8 };

    private readonly RecordingLogs _logs = new();

    // What the log says of messages that were not handled.
    private IEnumerable<string> Reports =>
        _logs.Entries.Where(static entry => entry.Id == UnhandledEvent).Select(static entry => entry.Text);

    [Theory]
    [InlineData(1)]
    [InlineData(3)]
    public async Task A_consumer_that_is_stopped_handles_what_was_buffered_and_what_waits_below_the_buffer(int concurrency)
    {
        await using var bench = await ConsumerBench.StartAsync(Small, _logs);
        var gate = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var got = new ConcurrentBag<long>();
        var consumption = bench.Topic.Subscribe(
            async (message, _) =>
            {
                await gate.Task;
                got.Add(message.Sequence);
            },
            new ConsumerOptions<string> { Concurrency = concurrency, OnGap = _ => Assert.Fail("There is a gap.") });
        await bench.DeliverAsync(100);
        var stopping = consumption.StopAsync();
        await Patience.Until(() => bench.Delivered == 100);
        Assert.False(stopping.IsCompleted);
        gate.SetResult();
        await stopping.OrFail();

        Assert.Equal(Enumerable.Range(1, 100).Select(static i => (long)i), got.Order());
        Assert.Equal(0, (await consumption.Completion).Unhandled);
        Assert.Empty(Reports);
        Assert.True(bench.Parts.ReceiverOf("orders").IsClosed);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(3)]
    public async Task A_stop_that_reaches_its_limit_reports_the_range_that_was_not_handled_once(int concurrency)
    {
        await using var bench = await ConsumerBench.StartAsync(Small, _logs);
        var gaps = new ConcurrentQueue<GapNotice>();
        var ends = new ConcurrentQueue<SubscriptionEnd>();
        int running = 0;
        var consumption = bench.Topic.Subscribe(
            async (message, stop) =>
            {
                if (message.Sequence > 20)
                {
                    Interlocked.Increment(ref running);
                    await Task.Delay(Timeout.Infinite, stop);
                }
            },
            new ConsumerOptions<string> { Concurrency = concurrency, OnGap = gaps.Enqueue, OnEnded = ends.Enqueue });
        await bench.DeliverAsync(100);
        await Patience.Until(() => Volatile.Read(ref running) == concurrency);
        using var limit = new CancellationTokenSource();
        var stopping = consumption.StopAsync(limit.Token);
        await limit.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => stopping.OrFail());
        var end = await consumption.Completion.OrFail();

        Assert.Equal((20, 80), (consumption.Handled, end.Unhandled));
        Assert.Equal(end, Assert.Single(ends));
        Assert.All(gaps, static gap => Assert.Equal(GapReason.SubscriberEnded, gap.Reason));
        Assert.Equal(
            Enumerable.Range(21, 80).Select(static i => (long)i),
            gaps.SelectMany(static gap => Enumerable.Range(0, (int)gap.Count).Select(i => gap.First + i)));
        string report = Assert.Single(Reports);
        Assert.Contains("\"orders\": the endpoint ended before messages that had come were handled (80)", report);
        Assert.Contains("21 to 100 of ", report);
        Assert.Equal(80, bench.Node.GetCounters().Unhandled);
        Assert.Throws<InvalidOperationException>(() => bench.Topic.Subscribe(static (_, _) => default));
    }

    [Fact]
    public async Task Messages_left_by_a_disposed_consumer_are_reported_when_its_endpoint_ends()
    {
        await using var bench = await ConsumerBench.StartAsync(logs: _logs);
        var called = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var consumption = bench.Topic.Subscribe(async (_, stop) =>
        {
            called.TrySetResult();
            await Task.Delay(Timeout.Infinite, stop);
        });
        await bench.DeliverAsync(50);
        await called.Task.OrFail();
        await consumption.DisposeAsync().OrFail();
        Assert.Equal(1, (await consumption.Completion).Unhandled);
        Assert.Equal(49, bench.Waiting);
        await bench.Topic.DisposeAsync().OrFail();

        Assert.Equal(50, bench.Node.GetCounters().Unhandled);
        Assert.Equal(2, Reports.Count());
    }

    // Without a reader the buffer keeps the newest messages only.
    [Fact]
    public async Task Drops_after_a_consumer_was_disposed_are_reported_when_its_endpoint_ends()
    {
        await using var bench = await ConsumerBench.StartAsync(Small, _logs);
        var called = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var consumption = bench.Topic.Subscribe(async (_, stop) =>
        {
            called.TrySetResult();
            await Task.Delay(Timeout.Infinite, stop);
        });
        await bench.DeliverAsync(100);
        await called.Task.OrFail();
        await consumption.DisposeAsync().OrFail();
        await Patience.Until(() => bench.Delivered == 100);
        long waiting = bench.Waiting;
        await bench.Topic.DisposeAsync().OrFail();

        Assert.InRange(waiting, 1, 98);
        Assert.Equal(1 + waiting, bench.Node.GetCounters().Unhandled);
        var dropped = Assert.Single(_logs.Entries, static entry => entry.Id == 1651);
        Assert.Contains($"that its full buffer had dropped ({99 - waiting}): ", dropped.Text);
        Assert.Contains($"2 to {100 - waiting} of ", dropped.Text);
    }

    [Fact]
    public async Task A_disposed_endpoint_lets_its_reader_read_what_waits_below_the_buffer()
    {
        await using var bench = await ConsumerBench.StartAsync(Small);
        await using var reader = bench.Topic.ReadAllAsync().GetAsyncEnumerator();
        var first = reader.MoveNextAsync();
        await bench.DeliverAsync(100);
        Assert.True(await first.OrFail());
        await bench.Topic.DisposeAsync().OrFail();
        Assert.Equal(100, bench.Delivered);
        for (int i = 2; i <= 100; i++)
        {
            Assert.True(await reader.MoveNextAsync().OrFail());
            Assert.Equal(i, reader.Current.Sequence);
        }

        Assert.False(await reader.MoveNextAsync().OrFail());
        Assert.Equal(0, bench.Node.GetCounters().Unhandled);
    }

    [Fact]
    public async Task A_reader_that_leaves_an_ended_endpoint_leaves_messages_that_are_reported()
    {
        await using var bench = await ConsumerBench.StartAsync(logs: _logs);
        var reader = bench.Topic.ReadAllAsync().GetAsyncEnumerator();
        await bench.DeliverAsync(20);
        Assert.True(await reader.MoveNextAsync().OrFail());
        await bench.Topic.DisposeAsync().OrFail();
        Assert.Equal(0, bench.Node.GetCounters().Unhandled);
        await reader.DisposeAsync();

        Assert.Equal(19, bench.Node.GetCounters().Unhandled);
        Assert.Contains("2 to 20 of ", Assert.Single(Reports));
    }

    [Fact]
    public async Task A_cancelled_endpoint_reports_to_its_reader_what_it_drops()
    {
        await using var bench = await ConsumerBench.StartAsync(logs: _logs);
        var gaps = new List<GapNotice>();
        await using var reader = bench.Topic.ReadAllAsync(gaps.Add).GetAsyncEnumerator();
        await bench.DeliverAsync(20);
        Assert.True(await reader.MoveNextAsync().OrFail());
        bench.Topic.Cancel();
        Assert.False(await reader.MoveNextAsync().OrFail());

        Assert.Equal((2, 20), (gaps[0].First, gaps[^1].Last));
        Assert.Equal(19, gaps.Sum(static gap => gap.Count));
        Assert.Equal(19, bench.Node.GetCounters().Unhandled);
        Assert.Single(Reports);
    }

    [Fact]
    public async Task An_endpoint_that_nothing_ever_read_ends_without_a_report()
    {
        await using var bench = await ConsumerBench.StartAsync(logs: _logs);
        await bench.DeliverAsync(20);
        await bench.Topic.DisposeAsync().OrFail();

        Assert.Equal(0, bench.Node.GetCounters().Unhandled);
        Assert.Empty(Reports);
    }

    [Fact]
    public async Task Messages_that_cannot_be_handed_on_are_reported_before_the_end_and_counted_there()
    {
        await using var bench = await ConsumerBench.StartAsync(logs: _logs);
        using var handler = Record(bench, out var told);
        await bench.DeliverAsync(2);
        bench.Parts.ReceiverOf("orders").Refused = (4, 7);
        await bench.Topic.DisposeAsync().OrFail();

        Assert.Equal(["1", "2", "4-7 SubscriberEnded", "Disposed 4"], told);
        Assert.Single(Reports);
        Assert.Equal((2, 4), (bench.Node.GetCounters().Delivered, bench.Node.GetCounters().Unhandled));
    }

    [Fact]
    public async Task A_message_in_the_backlog_of_handlers_is_delivered_although_the_endpoint_is_disposed_at_once()
    {
        await using var bench = await ConsumerBench.StartAsync();
        await bench.DeliverAsync(20);
        int got = 0;
        var ended = new TaskCompletionSource<SubscriptionEnd>(TaskCreationOptions.RunContinuationsAsynchronously);
        bench.Topic.SubscribeInline((in Message<string> _) => got++, onEnded: ended.SetResult);
        await bench.Topic.DisposeAsync().OrFail();

        Assert.Equal(0, (await ended.Task.OrFail()).Unhandled);
        Assert.Equal(20, got);
    }

    [Fact]
    public async Task Messages_after_an_end_that_did_not_wait_for_a_blocked_core_thread_are_reported()
    {
        await using var bench = await ConsumerBench.StartAsync(logs: _logs);
        using var gate = new ManualResetEventSlim();
        using var handler = bench.Topic.SubscribeInline((in Message<string> _) => gate.Wait());
        var delivering = bench.DeliverAsync(3);
        await Patience.Until(() => bench.Node.GetCounters().Delivered == 1);
        var disposing = bench.Topic.DisposeAsync().AsTask();
        await Patience.Until(() =>
        {
            bench.Parts.Time.Advance(TimeSpan.FromSeconds(0.25));
            return disposing.IsCompleted;
        });
        gate.Set();
        await delivering.OrFail();
        await Patience.Until(() => bench.Parts.ReceiverOf("orders").IsClosed);

        Assert.Equal((3, 2), (bench.Node.GetCounters().Delivered, bench.Node.GetCounters().Unhandled));
        Assert.Contains("2 to 3 of ", Assert.Single(Reports));
    }

    [Fact]
    public async Task A_message_that_comes_at_the_moment_of_a_cancellation_is_reported()
    {
        await using var bench = await ConsumerBench.StartAsync();
        await using var reader = bench.Topic.ReadAllAsync().GetAsyncEnumerator();
        var first = reader.MoveNextAsync();
        using var handler = bench.Topic.SubscribeInline((in Message<string> message) =>
        {
            if (message.Sequence == 2)
            {
                bench.Topic.Cancel();
            }
        });
        await bench.DeliverAsync(1);
        Assert.True(await first.OrFail());
        await bench.DeliverAsync(3);
        Assert.False(await reader.MoveNextAsync().OrFail());
        await Patience.Until(() => bench.Parts.ReceiverOf("orders").IsClosed);

        Assert.Equal((4, 3), (bench.Node.GetCounters().Delivered, bench.Node.GetCounters().Unhandled));
    }

    [Fact]
    public async Task Messages_that_a_removed_node_cannot_hand_on_to_handlers_are_reported()
    {
        await using var bench = await ConsumerBench.StartAsync(logs: _logs);
        using var handler = Record(bench, out var told);
        await bench.DeliverAsync(2);
        bench.Parts.ReceiverOf("orders").Refused = (4, 7);
        await bench.ExpelAsync();
        await Patience.Until(() => told.Count == 4);

        Assert.Equal(["1", "2", "4-7 SubscriberEnded", "NodeExpelled 4"], told);
        Assert.Single(Reports);
        Assert.Equal((2, 4), (bench.Node.GetCounters().Delivered, bench.Node.GetCounters().Unhandled));
    }

    // The endpoint leaves its topic for longer then than the node waits for it.
    [Theory]
    [InlineData(0)]
    [InlineData(300)]
    public async Task Messages_that_a_node_with_a_late_core_thread_cannot_hand_on_are_reported(int lateMilliseconds)
    {
        await using var bench = await ConsumerBench.StartAsync(Small, _logs);
        var called = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var consumption = bench.Topic.Subscribe(async (_, stop) =>
        {
            called.TrySetResult();
            await Task.Delay(Timeout.Infinite, stop);
        });
        await bench.DeliverAsync(5);
        bench.Parts.ReceiverOf("orders").Refused = (6, 20);
        await called.Task.OrFail();
        using var answers = new ManualResetEventSlim(lateMilliseconds == 0);
        var late = bench.Parts.Core.RunAsync(answers.Wait);
        var end = bench.Node.DisposeAsync().AsTask();
        bench.Parts.Time.Advance(TimeSpan.FromMilliseconds(lateMilliseconds));
        answers.Set();
        await late.OrFail();
        await bench.Parts.Time.RunUntilAsync(end);
        await consumption.Completion.OrFail();

        Assert.Equal(20, bench.Node.GetCounters().Unhandled);
    }

    // It stays in the topic's view, and acknowledges what is still sent to it.
    [Theory]
    [InlineData(false, false)]
    [InlineData(false, true)]
    [InlineData(true, false)]
    public async Task Messages_that_come_while_no_service_lets_the_node_leave_the_topic_are_reported(bool isRead, bool comesBack)
    {
        await using var bench = await ConsumerBench.StartAsync(Small, _logs);
        using var end = new CancellationTokenSource();
        var reading = isRead ? ReadAsync() : null;
        var consumption = isRead ? null : bench.Topic.Subscribe(static (_, _) => default);
        await bench.DeliverAsync(3);
        await Patience.Until(() => bench.Waiting == 0);
        bench.Parts.Service.IsReachable = false;
        bench.Parts.Service.HoldsApplied = true;
        await bench.Parts.Time.RunUntilAsync(bench.Topic.DisposeAsync().AsTask());
        Assert.Empty(Reports);

        await bench.DeliverAsync(20);
        Assert.Equal(23, bench.Delivered);
        if (comesBack)
        {
            bench.Parts.Service.IsReachable = true;
            await bench.Parts.Core.RunAsync(() => bench.Parts.Service.Applied.Dequeue()(0));
            await Patience.Until(() => Reports.Any());
        }

        await bench.Parts.Time.RunUntilAsync(bench.Node.DisposeAsync().AsTask());
        Assert.Contains("(20)", Assert.Single(Reports));
        Assert.Equal(20, bench.Node.GetCounters().Unhandled);
        await (reading ?? consumption!.Completion).OrFail();

        async Task ReadAsync()
        {
            await foreach (var message in bench.Topic.ReadAllAsync(end.Token))
            {
            }
        }
    }

    // A handler that notes the messages, the gaps and the end.
    private static IDisposable Record(ConsumerBench bench, out ConcurrentQueue<string> told)
    {
        var all = told = new ConcurrentQueue<string>();
        return bench.Topic.SubscribeInline(
            (in Message<string> message) => all.Enqueue(message.Value),
            gap => all.Enqueue($"{gap.First}-{gap.Last} {gap.Reason}"),
            end => all.Enqueue($"{end.Reason} {end.Unhandled}"));
    }
}
