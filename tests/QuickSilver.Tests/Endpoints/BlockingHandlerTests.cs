using System.Collections.Concurrent;
using QuickSilver.Diagnostics.Figures;
using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Tests.Endpoints;

public sealed class BlockingHandlerTests
{
    private static readonly TimeSpan HalfSecond = TimeSpan.FromMilliseconds(500);

    [Fact]
    public async Task A_handler_that_blocks_is_named_while_it_does_and_its_endpoint_ends_when_it_returns()
    {
        var logs = new RecordingLogs();
        await using var bench = await ConsumerBench.StartAsync(logs: logs);
        using var gate = new ManualResetEventSlim();
        using var entered = new ManualResetEventSlim();
        var ends = new ConcurrentQueue<SubscriptionEnd>();
        using var handler = bench.Topic.SubscribeInline((in Message<string> _) => Block(entered, gate), onEnded: ends.Enqueue);
        var delivery = bench.DeliverAsync(1);
        Assert.True(entered.Wait(TimeSpan.FromSeconds(20)));
        Assert.Null(bench.Node.Status.Reason);
        Advance(bench, 4);
        string reason = bench.Node.Status.Reason!;
        Assert.Contains(
            "The handler BlockingHandlerTests.A_handler_that_blocks_is_named_while_it_does_and_its_endpoint_ends_when_it_returns", reason);
        Assert.Contains("of topic \"orders\" (System.String) has blocked the core thread for ", reason);
        Assert.Equal(1, bench.Node.Read(NodeFigures.BlockingHandlers));
        Assert.Single(logs.Entries, static entry => entry.Id == 1623);
        Advance(bench, 4);
        Assert.Empty(ends);
        gate.Set();
        await delivery.OrFail();
        await Patience.Until(() => !ends.IsEmpty);

        var end = Assert.Single(ends);
        Assert.Equal(SubscriptionEndReason.HandlerTooSlow, end.Reason);
        var failure = Assert.IsType<SlowHandlerException>(end.Error);
        Assert.Contains("blocked the node's core thread for 00:00:02 (HandlerLimit)", failure.Message);
        Assert.Throws<SlowHandlerException>(() => bench.Topic.SubscribeInline((in Message<string> _) => { }));
        await bench.Parts.Core.RunAsync(() => bench.Parts.Core.Advance(HalfSecond));
        Advance(bench, 1);
        Assert.Null(bench.Node.Status.Reason);
        Assert.Equal(NodeState.Running, bench.Node.Status.State);
    }

    [Fact]
    public async Task Handlers_that_are_slow_together_and_one_that_returns_before_the_limit_stay()
    {
        await using var bench = await ConsumerBench.StartAsync();
        using var gate = new SemaphoreSlim(0);
        using var entered = new SemaphoreSlim(0);
        var ends = new ConcurrentQueue<SubscriptionEnd>();
        using var handler = bench.Topic.SubscribeInline(
            (in Message<string> _) =>
            {
                entered.Release();
                gate.Wait();
            },
            onEnded: ends.Enqueue);
        var delivery = bench.DeliverAsync(5);
        for (int i = 0; i < 5; i++)
        {
            Assert.True(await entered.WaitAsync(TimeSpan.FromSeconds(20)));
            Advance(bench, 3);
            gate.Release();
        }

        await delivery.OrFail();
        await bench.Parts.Core.RunAsync(static () => { });
        Assert.Empty(ends);
    }

    [Fact]
    public async Task Messages_behind_a_handler_that_blocked_are_reported_when_its_endpoint_ends()
    {
        await using var bench = await ConsumerBench.StartAsync();
        using var gate = new ManualResetEventSlim();
        using var entered = new ManualResetEventSlim();
        var told = new ConcurrentQueue<string>();
        using var handler = bench.Topic.SubscribeInline(
            (in Message<string> _) => Block(entered, gate),
            gap => told.Enqueue($"{gap.First}-{gap.Last} {gap.Reason}"),
            end => told.Enqueue($"{end.Reason} {end.Unhandled}"));
        var delivery = bench.DeliverAsync(1);
        Assert.True(entered.Wait(TimeSpan.FromSeconds(20)));
        bench.Parts.ReceiverOf("orders").Refused = (2, 4);
        Advance(bench, 8);
        gate.Set();
        await delivery.OrFail();
        await Patience.Until(() => told.Count == 2);

        Assert.Equal(["2-4 SubscriberEnded", "HandlerTooSlow 3"], told);
        await Patience.Until(() => bench.Node.GetCounters().Unhandled == 3);
    }

    [Fact]
    public async Task Other_endpoints_continue_without_the_one_that_blocked()
    {
        await using var bench = await ConsumerBench.StartAsync();
        var other = await bench.Parts.OpenSubscriberAsync<string>(bench.Node, "orders");
        using var gate = new ManualResetEventSlim();
        using var entered = new ManualResetEventSlim();
        int handled = 0;
        using var blocking = bench.Topic.SubscribeInline((in Message<string> _) => Block(entered, gate));
        using var counting = other.SubscribeInline((in Message<string> _) => Interlocked.Increment(ref handled));
        var delivery = bench.DeliverAsync(1);
        Assert.True(entered.Wait(TimeSpan.FromSeconds(20)));
        Advance(bench, 8);
        gate.Set();
        await delivery.OrFail();
        await bench.Parts.Core.RunAsync(static () => { });
        await bench.DeliverAsync(2);
        Assert.Equal(3, handled);
        Assert.Throws<SlowHandlerException>(() => bench.Topic.ReadAllAsync());
    }

    private static void Block(ManualResetEventSlim entered, ManualResetEventSlim gate)
    {
        entered.Set();
        gate.Wait();
    }

    private static void Advance(ConsumerBench bench, int halfSeconds)
    {
        for (int i = 0; i < halfSeconds; i++)
        {
            bench.Parts.Time.Advance(HalfSecond);
        }
    }
}
