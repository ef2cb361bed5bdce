using QuickSilver.Tests.Infrastructure;
using QuickSilver.Tests.Infrastructure.Fakes;

namespace QuickSilver.Tests;

// F7. Cancel, drain and dispose are three verbs: cancel and dispose are done within a second of the clock outside the core thread, and
// drain when its token says so.
public sealed class VerbsTests
{
    private const string Name = "verbs";
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    [Fact]
    public async Task Drain_refuses_new_messages_and_completes_when_accepted_ones_are_stable()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        var topic = await node.OpenTopicAsync<string>(Name).OrFail();
        var sender = parts.SenderOf(Name);
        await parts.Core.RunAsync(() => sender.GiveRoom(0));
        await topic.PublishAsync("accepted").OrFail();
        var drain = topic.DrainAsync();
        await Assert.ThrowsAsync<InvalidOperationException>(() => topic.PublishAsync("too late").AsTask());
        await parts.Core.RunAsync(() => sender.GiveRoom(10));
        await Patience.Until(() => sender.Count == 1);
        await parts.Core.RunAsync(() => { });
        Assert.False(drain.IsCompleted);
        await parts.Core.RunAsync(sender.MakeStable);
        await drain.OrFail();
    }

    [Fact]
    public async Task Drain_serves_calls_that_already_waited_for_room()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync(new QuickSilverOptions { Limits = { PublishQueueBytes = 64 << 10 } });
        var topic = await node.OpenTopicAsync<byte[]>(Name).OrFail();
        var sender = parts.SenderOf(Name);
        await parts.Core.RunAsync(() => sender.GiveRoom(0));
        sender.Stabilizes = true;
        var publishes = Enumerable.Range(0, 10).Select(_ => topic.PublishAsync(new byte[20_000]).AsTask()).ToArray();
        var drain = topic.DrainAsync();
        await parts.Core.RunAsync(() => sender.GiveRoom(int.MaxValue));
        await drain.OrFail();
        await Task.WhenAll(publishes).OrFail();
        Assert.Equal(10, sender.Count);
    }

    [Fact]
    public async Task A_drain_that_is_cancelled_throws_and_another_one_waits_on()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        var topic = await node.OpenTopicAsync<string>(Name).OrFail();
        var sender = parts.SenderOf(Name);
        await topic.PublishAsync("not acknowledged yet").OrFail();
        using var limit = new CancellationTokenSource();
        Task[] drains = [topic.DrainAsync(limit.Token), node.DrainAsync(limit.Token)];
        await limit.CancelAsync();
        foreach (var drain in drains)
        {
            var cancelled = await Assert.ThrowsAnyAsync<OperationCanceledException>(() => drain).OrFail();
            Assert.Equal(limit.Token, cancelled.CancellationToken);
        }

        await Assert.ThrowsAsync<InvalidOperationException>(() => topic.PublishAsync("too late").AsTask());
        var longer = topic.DrainAsync();
        await Patience.Until(() => sender.Count == 1);
        while (!longer.IsCompleted)
        {
            await parts.Core.RunAsync(sender.MakeStable);
            await Task.Yield();
        }

        await longer;
    }

    [Fact]
    public async Task A_drain_with_a_cancelled_token_does_not_begin()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        var topic = await node.OpenTopicAsync<string>(Name).OrFail();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => topic.DrainAsync(new CancellationToken(true))).OrFail();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => node.DrainAsync(new CancellationToken(true))).OrFail();
        await topic.PublishAsync("still accepted").OrFail();
    }

    [Fact]
    public async Task A_drain_whose_endpoint_ends_before_all_is_stable_throws_the_reason()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        var cancelled = await node.OpenTopicAsync<string>("cancelled").OrFail();
        var disposed = await node.OpenTopicAsync<string>("disposed").OrFail();
        var expelled = await node.OpenTopicAsync<string>("expelled").OrFail();
        foreach (var topic in new[] { cancelled, disposed, expelled })
        {
            await topic.PublishAsync("never acknowledged").OrFail();
        }

        Task[] drains = [cancelled.DrainAsync(), disposed.DrainAsync(), expelled.DrainAsync(), node.DrainAsync()];
        cancelled.Cancel();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => drains[0]).OrFail();
        await parts.Time.RunUntilAsync(disposed.DisposeAsync().AsTask());
        await Assert.ThrowsAsync<ObjectDisposedException>(() => drains[1]).OrFail();
        await parts.Core.RunAsync(() => parts.Service.Observer!.OnExpelled("ten heartbeats missed"));
        await Assert.ThrowsAsync<NodeExpelledException>(() => drains[2]).OrFail();
        await Assert.ThrowsAnyAsync<Exception>(() => drains[3]).OrFail();
    }

    [Fact]
    public async Task Drain_of_the_node_drains_every_topic()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        var first = await node.OpenTopicAsync<string>("first").OrFail();
        var second = await node.OpenTopicAsync<string>("second").OrFail();
        await first.PublishAsync("x").OrFail();
        await second.PublishAsync("x").OrFail();
        var drain = node.DrainAsync();
        await Patience.Until(() => parts.SenderOf("first").Count + parts.SenderOf("second").Count == 2);
        await parts.Core.RunAsync(parts.SenderOf("first").MakeStable);
        Assert.False(drain.IsCompleted);
        // The marker behind the message may arrive a moment after it.
        while (!drain.IsCompleted)
        {
            await parts.Core.RunAsync(parts.SenderOf("first").MakeStable);
            await parts.Core.RunAsync(parts.SenderOf("second").MakeStable);
            await Task.Yield();
        }

        await drain;
    }

    [Fact]
    public async Task Cancel_drops_what_waits_to_be_sent_and_ends_waiting_calls()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync(new QuickSilverOptions { Limits = { PublishQueueBytes = 64 << 10 } });
        var topic = await node.OpenTopicAsync<byte[]>(Name).OrFail();
        var sender = parts.SenderOf(Name);
        await parts.Core.RunAsync(() => sender.GiveRoom(1));
        var sent = topic.PublishAsync([1], PublishCompletion.Stable).AsTask();
        await Patience.Until(() => sender.Count == 1);
        var queued = topic.PublishAsync(new byte[30_000], PublishCompletion.Stable).AsTask();
        var waiting = topic.PublishAsync(new byte[30_000]).AsTask();
        using var feed = topic.AttachFeed((out byte[] value) =>
        {
            value = [9];
            return true;
        });
        topic.Cancel();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => sent).OrFail();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => queued).OrFail();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => waiting).OrFail();
        await parts.Core.RunAsync(() => sender.GiveRoom(100));
        Assert.Equal(1, sender.Count);
        Assert.Equal(0, node.GetGauges().PublishQueueBytes);
        await Assert.ThrowsAsync<InvalidOperationException>(() => topic.PublishAsync([1]).AsTask());
        await Assert.ThrowsAsync<InvalidOperationException>(() => topic.DrainAsync()).OrFail();
        await topic.DisposeAsync().OrFail();
        await Assert.ThrowsAsync<ObjectDisposedException>(() => topic.PublishAsync([1]).AsTask());
    }

    [Fact]
    public async Task Cancelling_one_endpoint_leaves_the_others_of_its_topic_alone()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        var ended = await node.OpenTopicAsync<string>(Name).OrFail();
        var other = await node.OpenTopicAsync<string>(Name).OrFail();
        var sender = parts.SenderOf(Name);
        await parts.Core.RunAsync(() => sender.GiveRoom(0));
        await ended.PublishAsync("dropped").OrFail();
        await other.PublishAsync("kept").OrFail();
        ended.Cancel();
        await parts.Core.RunAsync(() => sender.GiveRoom(10));
        await Patience.Until(() => sender.Count == 1);
        Assert.Equal("kept"u8.ToArray(), Assert.Single(sender.Sent));
        int handled = 0;
        using var handler = other.SubscribeInline((in Message<string> _) => handled++);
        await parts.Core.RunAsync(() => parts.ReceiverOf(Name).Deliver(1, "x"u8));
        Assert.Equal(1, handled);
    }

    [Fact]
    public async Task Dispose_sends_what_was_accepted_and_is_done_within_a_second_without_acknowledgements()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        var topic = await node.OpenTopicAsync<string>(Name).OrFail();
        await topic.PublishAsync("last words").OrFail();
        var dispose = topic.DisposeAsync().AsTask();
        Assert.Same(dispose, topic.DisposeAsync().AsTask());
        Assert.InRange(await parts.Time.RunUntilAsync(dispose), TimeSpan.Zero, Second);
        Assert.Equal(1, parts.SenderOf(Name).Count);
        Assert.Single(parts.Service.Closed);
    }

    [Fact]
    public async Task Dispose_of_the_node_closes_all_leaves_and_stops_within_a_second_without_answers()
    {
        await using var parts = new FakeParts();
        parts.Service.AnswersLeave = false;
        var node = await parts.StartAsync();
        var topics = new List<ITopic<string>>();
        for (int i = 0; i < 20; i++)
        {
            topics.Add(await node.OpenTopicAsync<string>($"t/{i}").OrFail());
            await topics[i].PublishAsync("x").OrFail();
        }

        var dispose = node.DisposeAsync().AsTask();
        Assert.InRange(await parts.Time.RunUntilAsync(dispose), TimeSpan.Zero, Second);
        Assert.True(parts.Service.HasLeft);
        Assert.True(parts.IsStopped);
        Assert.Equal(NodeState.Stopped, node.Status.State);
        foreach (var topic in topics)
        {
            await Assert.ThrowsAsync<ObjectDisposedException>(() => topic.PublishAsync("x").AsTask());
        }

        await Assert.ThrowsAsync<ObjectDisposedException>(() => node.OpenTopicAsync<string>("late"));
    }

    [Fact]
    public async Task Every_verb_returns_within_its_limit_although_a_handler_blocks_the_core_thread()
    {
        await using var parts = new FakeParts();
        using var release = new ManualResetEventSlim();
        using var runs = new ManualResetEventSlim();
        var node = await parts.StartAsync();
        var topic = await node.OpenTopicAsync<string>(Name).OrFail();
        using var handler = topic.SubscribeInline((in Message<string> _) =>
        {
            runs.Set();
            release.Wait();
        });
        var blocked = parts.Core.RunAsync(() => parts.ReceiverOf(Name).Deliver(1, "x"u8));
        await Patience.Until(() => runs.IsSet);
        try
        {
            await topic.PublishAsync("x").OrFail();
            var stable = topic.PublishAsync("x", PublishCompletion.Stable).AsTask();
            using var limit = new CancellationTokenSource();
            Task[] drains = [topic.DrainAsync(limit.Token), node.DrainAsync(limit.Token)];
            await limit.CancelAsync();
            foreach (var drain in drains)
            {
                await Assert.ThrowsAnyAsync<OperationCanceledException>(() => drain).OrFail();
            }

            topic.Cancel();
            Assert.InRange(await parts.Time.RunUntilAsync(topic.DisposeAsync().AsTask()), TimeSpan.Zero, Second);
            Assert.InRange(await parts.Time.RunUntilAsync(node.DisposeAsync().AsTask()), TimeSpan.Zero, Second);
            await Assert.ThrowsAsync<ObjectDisposedException>(() => stable).OrFail();
        }
        finally
        {
            release.Set();
        }

        await blocked.OrFail();
    }

    [Fact]
    public async Task Waiting_callers_learn_of_the_disposal_although_a_handler_blocks_the_core_thread_forever()
    {
        await using var parts = new FakeParts();
        using var release = new ManualResetEventSlim();
        var node = await parts.StartAsync(new QuickSilverOptions { Limits = { PublishQueueBytes = 64 << 10 } });
        var topic = await node.OpenTopicAsync<byte[]>(Name).OrFail();
        await using var reader = topic.ReadAllAsync().GetAsyncEnumerator();
        using var handler = topic.SubscribeInline((in Message<byte[]> _) => release.Wait());
        var blocked = parts.Core.RunAsync(() => parts.ReceiverOf(Name).Deliver(1, "x"u8));
        try
        {
            await topic.PublishAsync(new byte[30_000]).OrFail();
            var waitsForRoom = topic.PublishAsync(new byte[30_000]).AsTask();
            var reading = reader.MoveNextAsync().AsTask();
            Assert.InRange(await parts.Time.RunUntilAsync(node.DisposeAsync().AsTask()), TimeSpan.Zero, Second);
            await Assert.ThrowsAsync<ObjectDisposedException>(() => waitsForRoom).OrFail();
            await Assert.ThrowsAsync<ObjectDisposedException>(() => reading).OrFail();
            await Assert.ThrowsAsync<ObjectDisposedException>(() => topic.PublishAsync([1]).AsTask()).OrFail();
        }
        finally
        {
            release.Set();
        }

        await blocked.OrFail();
    }

    [Fact]
    public async Task Drain_of_the_node_passes_over_endpoints_that_were_cancelled()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        var cancelled = await node.OpenTopicAsync<string>(Name).OrFail();
        await cancelled.PublishAsync("never stable").OrFail();
        cancelled.Cancel();
        await node.DrainAsync().OrFail();
    }

    [Fact]
    public async Task Drain_of_a_disposed_node_throws()
    {
        await using var parts = new FakeParts();
        var node = await parts.StartAsync();
        await parts.Time.RunUntilAsync(node.DisposeAsync().AsTask());
        await Assert.ThrowsAsync<ObjectDisposedException>(() => node.DrainAsync()).OrFail();
    }

    [Fact]
    public async Task Verbs_in_any_order_at_once_from_many_threads_and_from_a_handler_all_come_back()
    {
        for (int round = 0; round < 20; round++)
        {
            await using var parts = new FakeParts();
            var node = await parts.StartAsync();
            var topic = await node.OpenTopicAsync<string>(Name).OrFail();
            var within = new System.Collections.Concurrent.ConcurrentQueue<Task>();
            using var handler = topic.SubscribeInline((in Message<string> _) =>
            {
                within.Enqueue(topic.DisposeAsync().AsTask());
                topic.Cancel();
            });
            Func<Task>[] verbs =
            [
                () => topic.DisposeAsync().AsTask(),
                () => Task.Run(topic.Cancel),
                () => Ignoring<InvalidOperationException>(() => topic.DrainAsync()),
                () => Ignoring<ObjectDisposedException>(() => node.DrainAsync()),
                () => Ignoring<InvalidOperationException>(() => topic.PublishAsync("x").AsTask()),
                () =>
                {
                    // Not awaited: a core thread that has ended does not come to it.
                    _ = parts.Core.RunAsync(() => parts.ReceiverOf(Name).Deliver(1, "x"u8));
                    return Task.CompletedTask;
                },
                () => node.DisposeAsync().AsTask(),
            ];
            new Random(round).Shuffle(verbs);
            var all = Task.WhenAll(verbs.Select(verb => Task.Run(verb)));
            await parts.Time.RunUntilAsync(all).OrFail();
            await all;
            await parts.Time.RunUntilAsync(Task.WhenAll(within)).OrFail();
            await parts.Time.RunUntilAsync(node.DisposeAsync().AsTask()).OrFail();
        }
    }

    private static async Task Ignoring<TException>(Func<Task> call)
        where TException : Exception
    {
        try
        {
            await call();
        }
        catch (Exception exception) when (exception is TException or OperationCanceledException)
        {
        }
    }
}
