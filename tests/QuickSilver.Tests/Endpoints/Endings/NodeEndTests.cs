using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Tests.Endpoints.Endings;

// I25: what a node that ends does with consumers that still handle messages, and with those that do not return.
public sealed class NodeEndTests
{
    private const int Accepted = 500;

    [Theory]
    [InlineData(1, false)]
    [InlineData(1, true)]
    [InlineData(4, false)]
    [InlineData(4, true)]
    public async Task A_node_reports_once_what_waits_behind_calls_that_do_not_return(int concurrency, bool cancels)
    {
        var network = new InMemoryNetwork();
        var logs = new RecordingLogs();
        await using var here = await network.StartNodeAsync().OrFail();
        var there = await network.StartNodeAsync(loggerFactory: logs).OrFail();
        await using var sent = await here.OpenPublisherAsync<string>("t").OrFail();
        var received = await there.OpenSubscriberAsync<string>("t").OrFail();
        var gate = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        int running = 0;
        var consumption = received.Subscribe(
            async (_, _) =>
            {
                Interlocked.Increment(ref running);
                await gate.Task;
            },
            new ConsumerOptions<string> { Concurrency = concurrency });
        await PublishAsync(sent);
        await Patience.Until(() => Volatile.Read(ref running) == concurrency && there.GetCounters().Delivered == Accepted);
        if (cancels)
        {
            received.Cancel();
        }

        await there.DisposeAsync().OrFail();
        Assert.Equal(Accepted - concurrency, there.GetCounters().Unhandled);
        Assert.Contains(logs.Entries, static entry => entry.Id == 1650);

        gate.SetResult();
        Assert.Equal(Accepted - concurrency, (await consumption.Completion.OrFail()).Unhandled);
        Assert.Equal(concurrency, consumption.Handled);
        Assert.Equal(Accepted - concurrency, there.GetCounters().Unhandled);
    }

    [Fact]
    public async Task A_node_reports_once_what_a_reader_that_does_not_continue_has_not_read()
    {
        var network = new InMemoryNetwork();
        await using var here = await network.StartNodeAsync().OrFail();
        var there = await network.StartNodeAsync().OrFail();
        await using var sent = await here.OpenPublisherAsync<string>("t").OrFail();
        var received = await there.OpenSubscriberAsync<string>("t").OrFail();
        var reader = received.ReadAllAsync().GetAsyncEnumerator();
        var first = reader.MoveNextAsync();
        await PublishAsync(sent);
        Assert.True(await first.OrFail());
        await Patience.Until(() => there.GetCounters().Delivered == Accepted);
        await there.DisposeAsync().OrFail();
        Assert.Equal(Accepted - 1, there.GetCounters().Unhandled);

        await reader.DisposeAsync();
        Assert.Equal(Accepted - 1, there.GetCounters().Unhandled);
    }

    [Theory]
    [InlineData(1, 1)]
    [InlineData(1, 3)]
    [InlineData(4, 12)]
    public async Task A_node_waits_for_calls_that_run_and_for_what_its_consumers_have_taken(int concurrency, int messages)
    {
        await using var bench = await ConsumerBench.StartAsync();
        var gate = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        int running = 0;
        int cancelled = 0;
        var consumption = bench.Topic.Subscribe(
            async (_, stop) =>
            {
                Interlocked.Increment(ref running);
                await gate.Task;
                Interlocked.Add(ref cancelled, stop.IsCancellationRequested ? 1 : 0);
            },
            new ConsumerOptions<string> { Concurrency = concurrency });
        await bench.DeliverAsync(messages);
        await Patience.Until(() => Volatile.Read(ref running) == concurrency);
        var receiver = bench.Parts.ReceiverOf("orders");
        var disposing = bench.Node.DisposeAsync().AsTask();
        await Patience.Until(() => receiver.IsClosed);
        for (int i = 0; i < 20; i++)
        {
            await bench.Parts.Core.RunAsync(static () => { });
            Assert.False(disposing.IsCompleted);
        }

        Assert.False(bench.Parts.IsStopped);
        gate.SetResult();
        await disposing.OrFail();

        Assert.Equal((messages, 0), (consumption.Handled, cancelled));
        Assert.Equal(0, bench.Node.GetCounters().Unhandled);
    }

    private static async Task PublishAsync(ITopicPublisher<string> publisher)
    {
        await publisher.WaitForSubscribersAsync(1).OrFail();
        for (int i = 0; i < Accepted; i++)
        {
            await publisher.PublishAsync($"{i}").OrFail();
        }
    }
}
