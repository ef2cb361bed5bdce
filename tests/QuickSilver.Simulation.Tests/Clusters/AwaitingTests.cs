using System.Threading.Channels;

namespace QuickSilver.Simulation.Tests.Clusters;

// What user code awaits continues in virtual time, on the one thread, in one order; what continues elsewhere is found.
public sealed class AwaitingTests : IDisposable
{
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    private readonly SimulatedCluster _cluster = new(nodes: 2, seed: 1);
    private readonly int _thread = Environment.CurrentManagedThreadId;

    public void Dispose() => _cluster.Dispose();

    [Fact]
    public void Readers_channels_semaphores_and_yields_stay_on_the_one_thread()
    {
        var threads = new HashSet<int>();
        var lines = new List<string>();
        _cluster.Start(async node =>
        {
            var topic = await node.Node.OpenTopicAsync<string>("news");
            var channel = Channel.CreateUnbounded<string>();
            var turn = new SemaphoreSlim(0);
            var reading = ReadAsync();
            var writing = WriteAsync();
            await topic.WaitForSubscribersAsync(2);
            await topic.PublishAsync($"from {node.Number}", PublishCompletion.Stable);
            await Task.WhenAll(reading, writing);

            async Task ReadAsync()
            {
                await foreach (var message in topic.ReadAllAsync())
                {
                    threads.Add(Environment.CurrentManagedThreadId);
                    await channel.Writer.WriteAsync($"{node.Number} got {message.Value}");
                    turn.Release();
                }
            }

            async Task WriteAsync()
            {
                while (true)
                {
                    await turn.WaitAsync();
                    await Task.Yield();
                    lines.Add(await channel.Reader.ReadAsync());
                    threads.Add(Environment.CurrentManagedThreadId);
                }
            }
        });
        _cluster.Eventually("all is written", () => lines.Count == 4);
        Assert.Equal(["0 got from 0", "0 got from 1", "1 got from 0", "1 got from 1"], lines.Order());
        Assert.Equal([_thread], threads);
    }

    [Fact]
    public void A_scenario_that_awaits_runs_to_its_end()
    {
        _cluster.Start();
        var begun = _cluster.Now;
        _cluster.RunUntilCompleted(async () =>
        {
            await Task.Delay(Second * 100, _cluster.Time);
            var topic = await _cluster.Nodes[0].Node.OpenTopicAsync<string>("news");
            await topic.PublishAsync("x");
            await topic.DisposeAsync();
            using var timer = new PeriodicTimer(Second, _cluster.Time);
            await timer.WaitForNextTickAsync();
            await timer.WaitForNextTickAsync();
            Assert.Equal(_thread, Environment.CurrentManagedThreadId);
        }, timeout: Second * 110);
        Assert.InRange(_cluster.Now - begun, Second * 102, Second * 103);
    }

    [Fact]
    public void Tasks_of_publish_calls_that_wait_for_room_together_complete_in_virtual_time()
    {
        _cluster.Start();
        _cluster.RunUntilCompleted(async () =>
        {
            var topic = await _cluster.Nodes[0].Node.OpenTopicAsync<byte[]>("large");
            var calls = Enumerable.Range(0, 2000).Select(_ => topic.PublishAsync(new byte[10_000]).AsTask()).ToList();
            Assert.Contains(calls, static call => !call.IsCompleted);
            await Task.WhenAll(calls);
            Assert.Equal(_thread, Environment.CurrentManagedThreadId);
        });
    }

    [Fact]
    public void A_scenarios_exception_is_rethrown_where_it_is_awaited()
    {
        _cluster.Start();
        var thrown = Assert.Throws<InvalidDataException>(() => _cluster.RunUntilCompleted(async () =>
        {
            await Task.Delay(Second, _cluster.Time);
            throw new InvalidDataException("this");
        }));
        Assert.Equal("this", thrown.Message);
    }

    [Fact]
    public void A_wait_that_is_cancelled_continues_in_the_simulation()
    {
        _cluster.Start();
        _cluster.RunUntilCompleted(async () =>
        {
            using var giveUp = new CancellationTokenSource();
            var topic = await _cluster.Nodes[0].Node.OpenTopicAsync<string>("news");
            var waiting = topic.WaitForSubscribersAsync(9, giveUp.Token);
            var reading = ReadAsync(topic, giveUp.Token);
            await Task.Delay(Second, _cluster.Time);
            giveUp.Cancel();
            await Assert.ThrowsAnyAsync<OperationCanceledException>(() => waiting);
            await Assert.ThrowsAnyAsync<OperationCanceledException>(() => reading);
            Assert.Equal(_thread, Environment.CurrentManagedThreadId);
        });

        static async Task ReadAsync(ITopic<string> topic, CancellationToken token)
        {
            await foreach (var message in topic.ReadAllAsync(token))
            {
                Assert.Fail(message.Value);
            }
        }
    }

    [Fact]
    public void A_task_that_never_completes_times_out()
    {
        _cluster.Start();
        var begun = _cluster.Now;
        var thrown = Assert.Throws<SimulationException>(() => _cluster.RunUntilCompleted(new TaskCompletionSource().Task, Second));
        Assert.Contains("outside of the simulation", thrown.Message, StringComparison.Ordinal);
        Assert.Equal(begun + Second, _cluster.Now);
    }

    [Fact]
    public void An_application_that_throws_fails_the_run_with_its_node_and_the_seed()
    {
        _cluster.Start(async node =>
        {
            await Task.Delay(Second * (2 - node.Number), node.Time);
            throw new InvalidDataException($"this is {node.Number}");
        });
        var thrown = Assert.Throws<SimulationException>(() => _cluster.Run(Second * 5));
        Assert.Equal("this is 1", Assert.IsType<InvalidDataException>(thrown.InnerException).Message);
        Assert.Contains("node 1", thrown.Message, StringComparison.Ordinal);
        Assert.Contains("under seed 1", thrown.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Code_that_continues_in_the_thread_pool_fails_the_run()
    {
        _cluster.Start();
        using var escaped = new ManualResetEventSlim();
        _cluster.Nodes[0].Post(async () =>
        {
            await Task.Run(escaped.Set);
        });
        _cluster.After(Second, () => escaped.Wait());
        var thrown = Assert.Throws<SimulationException>(() => _cluster.Run(Second * 2));
        Assert.Contains("thread pool", thrown.Message, StringComparison.Ordinal);
    }

    // A minute of virtual time takes a few milliseconds, so the wall clock's delay ends after the run.
    [Fact]
    public void A_condition_that_waits_for_a_wall_clock_delay_fails_with_the_thread_pool_as_the_reason()
    {
        var thrown = Assert.Throws<SimulationException>(() => Simulate.ManySeeds(1, new SimulationOptions { Nodes = 1 }, static cluster =>
        {
            bool isDone = false;
            cluster.Start(async _ =>
            {
                await Task.Delay(50);
                isDone = true;
            });
            cluster.Eventually("it is done", () => isDone);
        }));
        Assert.Contains("thread pool", thrown.Message, StringComparison.Ordinal);
        Assert.NotNull(thrown.Replay);
    }

    [Fact]
    public void Code_under_simulation_cannot_run_the_simulation()
    {
        _cluster.Start();
        _cluster.After(Second, () => _cluster.Run(Second));
        Assert.Contains("already running", Assert.ThrowsAny<Exception>(() => _cluster.Run(Second * 2)).Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_test_that_awaits_may_drive_the_simulation_from_another_thread()
    {
        _cluster.Start();
        await Task.Run(() => _cluster.Run(Second));
        var topic = _cluster.RunUntilCompleted(_cluster.Nodes[0].Node.OpenTopicAsync<string>("news"));
        Assert.Equal("news", topic.Name);
    }
}
