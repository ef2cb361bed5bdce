using System.Globalization;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using QuickSilver.Simulation;

namespace QuickSilver.Hosting.Tests;

// Hosts as a user registers their services, in virtual time, with faults.
public sealed class SimulatedHostTests
{
    private const int Orders = 200;

    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    [Fact]
    public void A_host_with_two_consumers_runs_the_same_twice_with_a_crash_of_its_node()
    {
        var first = Run(seed: 3);

        Assert.Equal(first, Run(seed: 3));
        Assert.NotEqual(first.Trace, Run(seed: 4).Trace);
        Assert.Contains("life 1: order", first.Journal, StringComparison.Ordinal);
        Assert.Contains("life 2: order", first.Journal, StringComparison.Ordinal);
        Assert.Contains("life 1: payment", first.Journal, StringComparison.Ordinal);
        Assert.Contains("life 2: payment", first.Journal, StringComparison.Ordinal);
    }

    [Fact]
    public void The_hosts_of_many_seeds_handle_what_is_published_after_the_faults() => Simulate.ManySeeds(
        5,
        new SimulationOptions { Nodes = 3 },
        static cluster =>
        {
            var journal = new Journal();
            cluster.Start(node => StartAsync(node, journal));
            cluster.RunFaults();
            int then = journal.Lines.Count;
            cluster.Eventually("more is handled", () => journal.Lines.Count > then + 10);
        });

    [Fact]
    public void A_host_that_stops_handles_what_was_acknowledged_and_ends_its_services()
    {
        using var cluster = new SimulatedCluster(nodes: 2, seed: 1);
        var journal = new Journal();
        var ends = new List<string>();
        SimulatedHost? host = null;
        cluster.Start(async node =>
        {
            if (node.Number == 1)
            {
                host = await node.StartHostAsync(services =>
                {
                    services.AddSingleton(journal).AddSingleton(new Life(node)).AddSingleton(ends);
                    services.AddQuickSilver().AddConsumer<string, OrderConsumer>("orders");
                    services.AddHostedService<Watch>();
                });
            }
        });
        var orders = cluster.RunUntilCompleted(cluster.Nodes[0].Node.OpenPublisherAsync<string>("orders"));
        cluster.RunUntilCompleted(orders.WaitForSubscribersAsync(1));
        cluster.RunUntilCompleted(async () =>
        {
            for (int i = 0; i < Orders; i++)
            {
                await orders.PublishAsync($"{i}");
            }

            await orders.DrainAsync();
        });
        Assert.InRange(journal.Lines.Count, 0, Orders - 1);

        cluster.Nodes[1].Post(() => host!.DisposeAsync().AsTask());
        cluster.Eventually("the host has ended", () => ends.Contains("stopped"));
        cluster.Run(Second);

        Assert.Equal(Enumerable.Range(0, Orders).Select(static i => $"life 1: order {i}"), journal.Lines);
        Assert.Equal(["started", "executing", "cancelled", "stopped"], ends);
        Assert.Equal(NodeState.Stopped, cluster.Nodes[1].Node.Status.State);
    }

    [Fact]
    public void The_exception_of_a_background_service_fails_the_run()
    {
        using var cluster = new SimulatedCluster(nodes: 1, seed: 1);
        cluster.Start(static node => node.StartHostAsync(static services => services.AddHostedService<Broken>()));

        var thrown = Assert.Throws<SimulationException>(() => cluster.Run(Second * 2));

        Assert.Contains("it is broken", thrown.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_host_with_two_nodes_is_refused()
    {
        using var cluster = new SimulatedCluster(nodes: 1, seed: 1);

        var thrown = Assert.Throws<SimulationException>(() =>
        {
            cluster.Start(static node => node.StartHostAsync(static services =>
            {
                services.AddQuickSilver();
                services.AddQuickSilver("other");
            }));
            cluster.Run(Second);
        });

        Assert.Contains("more than one node", thrown.Message, StringComparison.Ordinal);
    }

    private static (ulong Trace, string Journal) Run(ulong seed)
    {
        using var cluster = new SimulatedCluster(nodes: 2, seed);
        var journal = new Journal();
        cluster.Start(node => StartAsync(node, journal));
        cluster.Run(Second);
        cluster.Nodes[1].Crash();
        int then = journal.Lines.Count;
        cluster.Run(Second);
        Assert.Equal(then, journal.Lines.Count);
        cluster.Nodes[1].Start();
        cluster.Eventually("both topics are handled again", () =>
            journal.Lines.Exists(static line => line.StartsWith("life 2: order", StringComparison.Ordinal))
            && journal.Lines.Exists(static line => line.StartsWith("life 2: payment", StringComparison.Ordinal)));
        return (cluster.TraceHash, string.Join('\n', journal.Lines));
    }

    // The first node publishes from a background service, the others have two consumers.
    private static Task StartAsync(SimulatedNode node, Journal journal) => node.StartHostAsync(services =>
    {
        services.AddSingleton(journal).AddSingleton(new Life(node));
        var bus = services.AddQuickSilver();
        if (node.Number == 0)
        {
            bus.AddPublisher<string>("orders").AddPublisher<string>("payments");
            services.AddHostedService<Shop>();
        }
        else
        {
            bus.AddConsumer<string, OrderConsumer>("orders");
            bus.AddConsumer<string, PaymentConsumer>(
                "payments", new ConsumerOptions<string> { Concurrency = 3 }.WithKey(static text => text), ConsumerScope.Consumer);
        }
    });

    private sealed class Journal
    {
        public List<string> Lines { get; } = [];
    }

    private sealed record Life(SimulatedNode Node)
    {
        private readonly int _number = Node.Lives;

        public Random Random => Node.Random;

        public override string ToString() => string.Create(CultureInfo.InvariantCulture, $"life {_number}");
    }

    private sealed class OrderConsumer(Journal journal, Life life, TimeProvider time) : IConsumer<string>
    {
        public async ValueTask ConsumeAsync(Message<string> message, CancellationToken cancellationToken)
        {
            await Task.Delay(TimeSpan.FromMilliseconds(life.Random.Next(1, 10)), time, cancellationToken);
            journal.Lines.Add($"{life}: order {message.Value}");
        }
    }

    private sealed class PaymentConsumer(Journal journal, Life life, TimeProvider time) : IConsumer<string>, IAsyncDisposable
    {
        private readonly SemaphoreSlim _one = new(1);

        public async ValueTask ConsumeAsync(Message<string> message, CancellationToken cancellationToken)
        {
            await _one.WaitAsync();
            try
            {
                await Task.Yield();
                await Task.Delay(TimeSpan.FromMilliseconds(life.Random.Next(1, 10)), time, cancellationToken);
                journal.Lines.Add($"{life}: payment {message.Value}");
            }
            finally
            {
                _one.Release();
            }
        }

        public ValueTask DisposeAsync()
        {
            _one.Dispose();
            return ValueTask.CompletedTask;
        }
    }

    private sealed class Shop(
        [FromKeyedServices("orders")] ITopicPublisher<string> orders,
        [FromKeyedServices("payments")] ITopicPublisher<string> payments,
        TimeProvider time) : BackgroundService
    {
        protected override async Task ExecuteAsync(CancellationToken stoppingToken)
        {
            for (int i = 0; ; i++)
            {
                await orders.PublishAsync($"{i}", stoppingToken);
                await payments.PublishAsync($"{i}", stoppingToken);
                await Task.Delay(TimeSpan.FromMilliseconds(10), time, stoppingToken);
            }
        }
    }

    private sealed class Watch(List<string> ends, TimeProvider time) : BackgroundService, IHostedLifecycleService
    {
        public Task StartingAsync(CancellationToken cancellationToken) => Task.CompletedTask;

        public Task StartedAsync(CancellationToken cancellationToken)
        {
            ends.Add("started");
            return Task.CompletedTask;
        }

        public Task StoppingAsync(CancellationToken cancellationToken) => Task.CompletedTask;

        public Task StoppedAsync(CancellationToken cancellationToken)
        {
            ends.Add("stopped");
            return Task.CompletedTask;
        }

        protected override async Task ExecuteAsync(CancellationToken stoppingToken)
        {
            ends.Add("executing");
            try
            {
                await Task.Delay(Timeout.InfiniteTimeSpan, time, stoppingToken);
            }
            catch (OperationCanceledException)
            {
                ends.Add("cancelled");
                throw;
            }
        }
    }

    private sealed class Broken(TimeProvider time) : BackgroundService
    {
        protected override async Task ExecuteAsync(CancellationToken stoppingToken)
        {
            await Task.Delay(TimeSpan.FromSeconds(1), time, stoppingToken);
            throw new InvalidDataException("it is broken");
        }
    }
}
