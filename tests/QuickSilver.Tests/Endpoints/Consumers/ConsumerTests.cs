using System.Collections.Concurrent;
using QuickSilver.Diagnostics.Figures;
using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Tests.Endpoints.Consumers;

public sealed class ConsumerTests
{
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    [Fact]
    public async Task A_consumer_handles_one_message_at_a_time_in_order_on_the_thread_pool()
    {
        await using var bench = await ConsumerBench.StartAsync();
        var got = new List<string>();
        int running = 0;
        await bench.DeliverAsync(10);
        await using var consumption = bench.Topic.Subscribe(async (message, _) =>
        {
            Assert.True(Thread.CurrentThread.IsThreadPoolThread);
            Assert.Equal(1, Interlocked.Increment(ref running));
            await Task.Yield();
            got.Add(message.Value);
            Interlocked.Decrement(ref running);
        });
        await bench.DeliverAsync(490);
        await Patience.Until(() => consumption.Handled == 500);

        Assert.Equal(Enumerable.Range(1, 500).Select(i => $"{i}"), got);
    }

    [Theory]
    [InlineData(3)]
    [InlineData(8)]
    public async Task With_keys_the_order_of_each_key_is_kept_while_several_are_handled(int concurrency)
    {
        const int Keys = 20;
        await using var bench = await ConsumerBench.StartAsync();
        var got = new ConcurrentDictionary<int, List<int>>();
        int running = 0;
        int most = 0;
        var options = new ConsumerOptions<string> { Concurrency = concurrency }.WithKey(static text => int.Parse(text) % Keys);
        await using var consumption = bench.Topic.Subscribe(
            async (message, _) =>
            {
                int now = Interlocked.Increment(ref running);
                InterlockedMax(ref most, now);
                int number = int.Parse(message.Value);
                var list = got.GetOrAdd(number % Keys, static _ => []);
                await Task.Yield();
                list.Add(number);
                Interlocked.Decrement(ref running);
            },
            options);
        await bench.DeliverAsync(4000);
        await Patience.Until(() => consumption.Handled == 4000);

        Assert.Equal(Keys, got.Count);
        Assert.All(got.Values, list => Assert.Equal(list.Order(), list));
        Assert.Equal(4000, got.Values.Sum(static list => list.Distinct().Count()));
        Assert.InRange(most, 1, concurrency);
    }

    [Fact]
    public async Task Without_keys_as_many_are_handled_at_a_time_as_the_option_says_and_no_more()
    {
        await using var bench = await ConsumerBench.StartAsync();
        var gate = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        int running = 0;
        await using var consumption = bench.Topic.Subscribe(
            async (_, _) =>
            {
                Interlocked.Increment(ref running);
                await gate.Task;
            },
            new ConsumerOptions<string> { Concurrency = 4 });
        await bench.DeliverAsync(100);
        await Patience.Until(() => Volatile.Read(ref running) == 4);
        await bench.DeliverAsync(100);
        Assert.Equal(4, Volatile.Read(ref running));
        gate.SetResult();
        await Patience.Until(() => consumption.Handled == 200);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(3)]
    public async Task A_slow_consumer_holds_the_senders_back_and_nothing_is_lost(int concurrency)
    {
        await using var bench = await ConsumerBench.StartAsync(new TopicOptions { ReaderCapacity = 8 });
        var gate = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var got = new ConcurrentBag<string>();
        await using var consumption = bench.Topic.Subscribe(
            async (message, _) =>
            {
                await gate.Task;
                got.Add(message.Value);
            },
            new ConsumerOptions<string> { Concurrency = concurrency, OnGap = _ => Assert.Fail("There is a gap.") });
        await bench.DeliverAsync(1000);
        // One in the batch of the reader besides the buffered ones; those of the workers and of their queue.
        Assert.InRange(bench.Delivered, 8, 8 + 2 + (concurrency == 1 ? 0 : concurrency + 16 + 1));
        gate.SetResult();
        await Patience.Until(() => consumption.Handled == 1000);
        Assert.Equal(1000, got.Distinct().Count());
    }

    [Fact]
    public async Task Retries_wait_longer_each_time_and_the_next_message_waits_for_them()
    {
        await using var bench = await ConsumerBench.StartAsync();
        var calls = new ConcurrentQueue<(string, TimeSpan)>();
        await using var consumption = bench.Topic.Subscribe(
            (message, _) =>
            {
                calls.Enqueue((message.Value, bench.Parts.Time.Elapsed));
                return message.Value == "1" && calls.Count < 4 ? throw new IOException("busy") : default;
            },
            new ConsumerOptions<string> { OnError = ConsumerErrors.Retry(5, Second).ThenStop() });
        await bench.DeliverAsync(2);
        for (int call = 1; call < 5; call++)
        {
            await Patience.Until(() => calls.Count >= call);
            if (call < 4)
            {
                await Patience.Until(() => bench.Node.Read(NodeFigures.ConsumerRetries) == call);
                await AdvanceUntilAsync(bench, () => calls.Count > call);
            }
        }

        await Patience.Until(() => consumption.Handled == 2);
        Assert.Equal(["1", "1", "1", "1", "2"], calls.Select(static call => call.Item1));
        // As times and not as numbers of seconds, whose difference may be a little less than a second.
        var times = calls.Select(static call => call.Item2).ToArray();
        Assert.InRange(times[1] - times[0], TimeSpan.FromSeconds(1), TimeSpan.FromSeconds(2));
        Assert.InRange(times[2] - times[1], TimeSpan.FromSeconds(2), TimeSpan.FromSeconds(3));
        Assert.InRange(times[3] - times[2], TimeSpan.FromSeconds(4), TimeSpan.FromSeconds(5));
        Assert.Equal((2, 3, 0, 0), (consumption.Handled, consumption.Retried, consumption.Skipped, consumption.Failed));
    }

    [Fact]
    public async Task Skipped_messages_go_to_the_handler_of_dead_letters_and_are_logged()
    {
        var logs = new RecordingLogs();
        await using var bench = await ConsumerBench.StartAsync(logs: logs);
        var dead = new ConcurrentQueue<DeadLetter<string>>();
        await using var consumption = bench.Topic.Subscribe(
            async (message, _) =>
            {
                await Task.Yield();
                if (message.Value == "2")
                {
                    throw new IOException("no");
                }
            },
            new ConsumerOptions<string>
            {
                OnError = ConsumerErrors.Retry(2, TimeSpan.Zero).ThenSkip(),
                OnDeadLetter = async (letter, _) =>
                {
                    await Task.Yield();
                    dead.Enqueue(letter);
                },
            });
        await bench.DeliverAsync(3);
        await Patience.Until(() => consumption.Handled == 2);

        var letter = Assert.Single(dead);
        Assert.Equal(("2", 2, 3), (letter.Message.Value, letter.Message.Sequence, letter.Attempts));
        Assert.IsType<IOException>(letter.Exception);
        Assert.Equal((2, 2, 1), (consumption.Handled, consumption.Retried, consumption.Skipped));
        var node = bench.Node;
        NodeFigure<long>[] figures = [NodeFigures.ConsumerRetries, NodeFigures.ConsumerSkips, NodeFigures.ConsumerFailures];
        Assert.Equal([2, 1, 0], figures.Select(node.Read));
        Assert.Contains(logs.Entries, static entry => entry.Id == 1621 && entry.Exception is IOException);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(4)]
    public async Task A_consumer_that_stops_at_an_error_reports_the_message_and_the_cause_and_its_endpoint_stays_open(int concurrency)
    {
        await using var bench = await ConsumerBench.StartAsync();
        var ends = new ConcurrentQueue<SubscriptionEnd>();
        var consumption = bench.Topic.Subscribe(
            (message, _) => message.Value == "3" ? throw new IOException("disk full") : default,
            new ConsumerOptions<string> { Concurrency = concurrency, OnError = ConsumerErrors.Stop, OnEnded = ends.Enqueue });
        await bench.DeliverAsync(3);
        var end = await consumption.Completion.OrFail();
        Assert.Equal(end, Assert.Single(ends));
        Assert.Equal(SubscriptionEndReason.ConsumerFailed, end.Reason);
        var failure = Assert.IsType<ConsumerFailedException>(end.Error);
        Assert.Equal((3, 1), (failure.Sequence, failure.Attempts));
        Assert.Contains("\"orders\" (System.String) stopped at message 3", failure.Message);
        Assert.Contains("disk full", failure.Message);
        Assert.Equal(3, consumption.Handled + consumption.Failed + consumption.Abandoned);
        Assert.Equal(1, bench.Node.Read(NodeFigures.ConsumerFailures));

        int after = 0;
        await using var next = bench.Topic.Subscribe((_, _) =>
        {
            Interlocked.Increment(ref after);
            return default;
        });
        await bench.DeliverAsync(2);
        await Patience.Until(() => Volatile.Read(ref after) == 2);
    }

    [Fact]
    public async Task A_dead_letter_that_cannot_be_put_away_stops_the_consumer()
    {
        await using var bench = await ConsumerBench.StartAsync();
        var consumption = bench.Topic.Subscribe(
            static (_, _) => throw new IOException("no"),
            new ConsumerOptions<string> { OnDeadLetter = static (_, _) => throw new InvalidDataException("no room") });
        await bench.DeliverAsync(3);
        var end = await consumption.Completion.OrFail();
        Assert.IsType<InvalidDataException>(end.Error!.InnerException);
        Assert.Equal((0, 1), (consumption.Skipped, consumption.Failed));
    }

    [Fact]
    public async Task A_key_that_cannot_be_read_is_a_fault_that_is_not_retried()
    {
        await using var bench = await ConsumerBench.StartAsync();
        var dead = new ConcurrentQueue<int>();
        var options = new ConsumerOptions<string>
        {
            Concurrency = 3,
            OnError = ConsumerErrors.Retry(5, Second).ThenSkip(),
            OnDeadLetter = (letter, _) =>
            {
                dead.Enqueue(letter.Attempts);
                return default;
            },
        };
        await using var consumption = bench.Topic.Subscribe(
            static (_, _) => default, options.WithKey(static text => text == "2" ? throw new FormatException("no key") : text));
        await bench.DeliverAsync(3);
        await Patience.Until(() => consumption.Handled + consumption.Skipped == 3);
        Assert.Equal([0], dead);
        Assert.Equal(0, consumption.Retried);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(4)]
    public async Task Disposing_cancels_running_calls_waits_for_them_and_leaves_the_rest_to_the_next(int concurrency)
    {
        await using var bench = await ConsumerBench.StartAsync();
        int running = 0;
        int returned = 0;
        var consumption = bench.Topic.Subscribe(
            async (_, cancellation) =>
            {
                Interlocked.Increment(ref running);
                try
                {
                    await Task.Delay(Timeout.Infinite, cancellation);
                }
                finally
                {
                    await Task.Yield();
                    Interlocked.Increment(ref returned);
                }
            },
            new ConsumerOptions<string> { Concurrency = concurrency });
        await bench.DeliverAsync(50);
        await Patience.Until(() => Volatile.Read(ref running) == concurrency);
        await consumption.DisposeAsync().OrFail();

        Assert.Equal(running, returned);
        Assert.Equal(SubscriptionEndReason.Disposed, (await consumption.Completion).Reason);
        Assert.InRange(consumption.Abandoned, concurrency, concurrency + 17);
        var rest = new ConcurrentQueue<int>();
        await using var next = bench.Topic.Subscribe((message, _) =>
        {
            rest.Enqueue(int.Parse(message.Value));
            return default;
        });
        await Patience.Until(() => consumption.Abandoned + next.Handled == 50);
        Assert.Equal(Enumerable.Range((int)consumption.Abandoned + 1, 50 - (int)consumption.Abandoned), rest);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(4)]
    public async Task Stopping_finishes_what_has_come(int concurrency)
    {
        await using var bench = await ConsumerBench.StartAsync();
        var gate = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        int running = 0;
        var consumption = bench.Topic.Subscribe(
            async (_, cancellation) =>
            {
                Interlocked.Increment(ref running);
                await gate.Task;
                cancellation.ThrowIfCancellationRequested();
            },
            new ConsumerOptions<string> { Concurrency = concurrency });
        await bench.DeliverAsync(5);
        // With one call at a time, messages are taken one by one; otherwise, all are taken soon, and one of them waits for a call to end.
        int untaken = concurrency == 1 ? 4 : 0;
        await Patience.Until(() => Volatile.Read(ref running) == concurrency && bench.Waiting == untaken);
        var stopping = consumption.StopAsync();
        Assert.False(stopping.IsCompleted);
        gate.SetResult();
        await stopping.OrFail();
        Assert.Equal((5, 0), (consumption.Handled, consumption.Abandoned));
        Assert.Equal(new SubscriptionEnd(SubscriptionEndReason.Disposed, null), await consumption.Completion);
    }

    [Fact]
    public async Task A_stop_whose_token_is_cancelled_cancels_the_running_call_and_ends()
    {
        await using var bench = await ConsumerBench.StartAsync();
        var gate = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var called = new TaskCompletionSource<CancellationToken>(TaskCreationOptions.RunContinuationsAsynchronously);
        var consumption = bench.Topic.Subscribe(async (_, cancellation) =>
        {
            called.SetResult(cancellation);
            await gate.Task;
        });
        await bench.DeliverAsync(1);
        var token = await called.Task.OrFail();
        using var limit = new CancellationTokenSource();
        var stopping = consumption.StopAsync(limit.Token);
        Assert.False(token.IsCancellationRequested);
        await limit.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => stopping.OrFail());
        await Patience.Until(() => token.IsCancellationRequested);
        Assert.False(consumption.Completion.IsCompleted);
        gate.SetResult();
        await consumption.Completion.OrFail();
        Assert.Equal(1, consumption.Handled);
    }

    [Fact]
    public async Task Disposing_ends_a_wait_before_a_retry()
    {
        await using var bench = await ConsumerBench.StartAsync();
        var consumption = bench.Topic.Subscribe(
            static (_, _) => throw new IOException("busy"),
            new ConsumerOptions<string> { OnError = ConsumerErrors.Retry(5, TimeSpan.FromHours(1)).ThenStop() });
        await bench.DeliverAsync(1);
        await Patience.Until(() => consumption.Retried == 1);
        await consumption.DisposeAsync().OrFail();
        Assert.Equal((0, 1), (consumption.Failed, consumption.Abandoned));
    }

    [Fact]
    public async Task An_expelled_node_ends_consumers_after_what_was_buffered_and_handlers_with_the_reason()
    {
        await using var bench = await ConsumerBench.StartAsync();
        var handlerEnds = new ConcurrentQueue<SubscriptionEnd>();
        var gate = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        await using var consumption = bench.Topic.Subscribe(async (_, _) => await gate.Task);
        using var handler = bench.Topic.SubscribeInline((in Message<string> _) => { }, onEnded: handlerEnds.Enqueue);
        var left = bench.Topic.SubscribeInline((in Message<string> _) => { }, onEnded: handlerEnds.Enqueue);
        await bench.DeliverAsync(10);
        left.Dispose();
        await bench.ExpelAsync();
        gate.SetResult();
        var end = await consumption.Completion.OrFail();
        Assert.Equal(SubscriptionEndReason.NodeExpelled, end.Reason);
        Assert.IsType<NodeExpelledException>(end.Error);
        Assert.Equal(10, consumption.Handled);
        await Patience.Until(() => !handlerEnds.IsEmpty);
        Assert.Equal(end, Assert.Single(handlerEnds));
    }

    [Fact]
    public async Task A_cancelled_endpoint_ends_consumers_at_once_and_a_disposed_one_after_what_was_buffered()
    {
        await using var bench = await ConsumerBench.StartAsync();
        var ends = new ConcurrentQueue<SubscriptionEnd>();
        using var handler = bench.Topic.SubscribeInline((in Message<string> _) => { }, onEnded: ends.Enqueue);
        await using var consumption = bench.Topic.Subscribe(async (_, stop) => await Task.Delay(Timeout.Infinite, stop));
        await bench.DeliverAsync(10);
        bench.Topic.Cancel();
        Assert.Equal(
            new SubscriptionEnd(SubscriptionEndReason.Cancelled, null) { Unhandled = 10 }, await consumption.Completion.OrFail());
        await Patience.Until(() => !ends.IsEmpty);
        Assert.Equal(new SubscriptionEnd(SubscriptionEndReason.Cancelled, null), Assert.Single(ends));

        await using var other = await ConsumerBench.StartAsync();
        await using var buffered = other.Topic.Subscribe(async (_, _) => await Task.Yield());
        await other.DeliverAsync(10);
        await other.Topic.DisposeAsync().OrFail();
        Assert.Equal(SubscriptionEndReason.Disposed, (await buffered.Completion.OrFail()).Reason);
        Assert.Equal(10, buffered.Handled);
    }

    [Fact]
    public async Task An_endpoint_has_one_reader_or_consumer()
    {
        await using var bench = await ConsumerBench.StartAsync();
        await using var consumption = bench.Topic.Subscribe(static (_, _) => default);
        var refused = Assert.Throws<InvalidOperationException>(() => bench.Topic.Subscribe(static (_, _) => default));
        Assert.StartsWith("This endpoint of the topic \"orders\" already has a consumer (Subscribe).", refused.Message);
        Assert.EndsWith("Open another endpoint of the topic.", refused.Message);
        var reading = Assert.Throws<InvalidOperationException>(() => bench.Topic.ReadAllAsync().GetAsyncEnumerator());
        Assert.Equal(refused.Message, reading.Message);
        await consumption.DisposeAsync().OrFail();
        await using var reader = bench.Topic.ReadAllAsync().GetAsyncEnumerator();
        refused = Assert.Throws<InvalidOperationException>(() => bench.Topic.Subscribe(static (_, _) => default));
        Assert.StartsWith("This endpoint of the topic \"orders\" already has a reader (ReadAllAsync).", refused.Message);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1025)]
    public async Task A_wrong_option_is_named_with_its_range(int concurrency)
    {
        await using var bench = await ConsumerBench.StartAsync();
        var wrong = Assert.Throws<QuickSilverOptionsException>(
            () => bench.Topic.Subscribe(static (_, _) => default, new ConsumerOptions<string> { Concurrency = concurrency }));
        Assert.Contains("The option Concurrency is ", wrong.Message);
        Assert.Contains("1 to 1,024", wrong.Message);
        Assert.Throws<ArgumentOutOfRangeException>(() => ConsumerErrors.Retry(0, Second));
        Assert.Throws<ArgumentOutOfRangeException>(() => ConsumerErrors.Retry(1, -Second));
        Assert.Throws<ArgumentOutOfRangeException>(() => ConsumerErrors.Retry(1, Second, Second / 2));
    }

    [Theory]
    [InlineData(1, false)]
    [InlineData(4, false)]
    [InlineData(4, true)]
    public async Task With_random_exceptions_each_of_100_000_messages_is_counted_once(int concurrency, bool hasKeys)
    {
        const int Messages = 100_000;
        await using var bench = await ConsumerBench.StartAsync();
        int dead = 0;
        var attempts = new int[Messages + 1];
        var options = new ConsumerOptions<string>
        {
            Concurrency = concurrency,
            OnError = ConsumerErrors.Retry(2, TimeSpan.Zero).ThenSkip(),
            OnDeadLetter = (_, _) =>
            {
                Interlocked.Increment(ref dead);
                return default;
            },
        };
        await using var consumption = bench.Topic.Subscribe(
            async (message, _) =>
            {
                int number = int.Parse(message.Value);
                int attempt = Interlocked.Increment(ref attempts[number]);
                if (number % 7 == 0)
                {
                    await Task.Yield();
                }

                if (attempt <= FaultsOf(number))
                {
                    throw new IOException("random");
                }
            },
            hasKeys ? options.WithKey(static text => text) : options);
        await bench.DeliverAsync(Messages);
        await Patience.Until(() => consumption.Handled + consumption.Skipped == Messages);

        var faults = Enumerable.Range(1, Messages).Select(FaultsOf).ToArray();
        int skipped = faults.Count(static count => count == 3);
        Assert.True(skipped > 0);
        Assert.Equal(
            (Messages - skipped, skipped, skipped, faults.Sum(static count => Math.Min(count, 2))),
            (consumption.Handled, consumption.Skipped, dead, consumption.Retried));
        Assert.All(Enumerable.Range(1, Messages), number => Assert.Equal(Math.Min(FaultsOf(number), 2) + 1, attempts[number]));
    }

    // About one of a hundred fails once, twice or always.
    private static int FaultsOf(int number)
    {
        var random = new Random(number);
        return random.Next(100) == 0 ? random.Next(1, 4) : 0;
    }

    private static void InterlockedMax(ref int most, int now)
    {
        int seen;
        while (now > (seen = Volatile.Read(ref most)) && Interlocked.CompareExchange(ref most, now, seen) != seen)
        {
        }
    }

    // The timer is set shortly after the fault is counted.
    private static async Task AdvanceUntilAsync(ConsumerBench bench, Func<bool> condition)
    {
        while (!condition())
        {
            bench.Parts.Time.Advance(TimeSpan.FromMilliseconds(100));
            for (int i = 0; i < 5 && !condition(); i++)
            {
                await Task.Delay(1);
            }
        }
    }
}
