using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Tests.Endpoints.Endings;

// A consumer that awaits its own end would wait for itself.
public sealed class OwnEndTests
{
    [Theory]
    [InlineData(1, false, false)]
    [InlineData(1, false, true)]
    [InlineData(1, true, false)]
    [InlineData(1, true, true)]
    [InlineData(4, false, true)]
    [InlineData(4, true, true)]
    public async Task A_consumer_that_awaits_its_own_end_does_not_wait_for_itself(int concurrency, bool disposes, bool waitsFirst)
    {
        await using var bench = await ConsumerBench.StartAsync();
        var source = new TaskCompletionSource<IConsumption>(TaskCreationOptions.RunContinuationsAsynchronously);
        int returned = 0;
        var consumption = bench.Topic.Subscribe(
            async (message, _) =>
            {
                if (waitsFirst)
                {
                    await Task.Yield();
                }

                if (message.Sequence == 3)
                {
                    var own = await source.Task;
                    await (disposes ? own.DisposeAsync().AsTask() : own.StopAsync());
                    Interlocked.Increment(ref returned);
                }
            },
            new ConsumerOptions<string> { Concurrency = concurrency });
        source.SetResult(consumption);
        await bench.DeliverAsync(5);
        var end = await consumption.Completion.OrFail();

        Assert.Equal(SubscriptionEndReason.Disposed, end.Reason);
        Assert.Equal(1, returned);
        Assert.True(disposes || (consumption.Handled == 5 && end.Unhandled == 0));
    }

    [Fact]
    public async Task Callbacks_of_a_consumer_that_wait_for_its_end_return()
    {
        await using var bench = await ConsumerBench.StartAsync();
        var source = new TaskCompletionSource<IConsumption>(TaskCreationOptions.RunContinuationsAsynchronously);
        int dead = 0;
        var consumption = bench.Topic.Subscribe(
            static (_, _) => throw new IOException("no"),
            new ConsumerOptions<string>
            {
                OnDeadLetter = async (_, _) =>
                {
                    await (await source.Task).StopAsync();
                    dead++;
                },
                OnEnded = _ => source.Task.Result.StopAsync().Wait(),
            });
        source.SetResult(consumption);
        await bench.DeliverAsync(3);
        await consumption.Completion.OrFail();
        Assert.Equal((3, 3), (dead, consumption.Skipped));
    }

    [Fact]
    public async Task A_call_from_elsewhere_waits_for_the_calls_of_the_consumer()
    {
        await using var bench = await ConsumerBench.StartAsync();
        var gate = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var consumption = bench.Topic.Subscribe(async (_, _) => await gate.Task);
        await bench.DeliverAsync(1);
        var stopping = consumption.StopAsync();
        var disposing = consumption.DisposeAsync().AsTask();
        Assert.False(stopping.IsCompleted || disposing.IsCompleted);
        gate.SetResult();
        await Task.WhenAll(stopping, disposing).OrFail();
    }
}
