using System.Collections.Concurrent;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Hosting.Tests;

// Hosted services that use the node while the host starts and stops them, before and after the node in the order in which they are added.
public sealed class StartOrderTests
{
    private static readonly IReadOnlyDictionary<string, Func<IServiceProvider, CancellationToken, Task>> Uses =
        new Dictionary<string, Func<IServiceProvider, CancellationToken, Task>>
        {
            ["publish"] = async (services, token) =>
                await services.GetRequiredService<ITopicPublisher<string>>().PublishAsync("up", token),
            ["wait"] = (services, token) => services.GetRequiredService<ITopicPublisher<string>>().WaitForSubscribersAsync(0, token),
            ["ask"] = async (services, token) =>
                await Assert.ThrowsAnyAsync<QuickSilverException>(
                    () => services.GetRequiredService<IRequester<string, string>>().AskAsync("up", token)),
            ["state"] = async (services, token) => await services.GetRequiredService<IState<string, string>>().SetAsync("a", "b", token),
            ["node"] = (services, token) => services.GetRequiredService<IQuickSilverNodeAccessor>().GetAsync(token),
        };

    public static TheoryData<string, bool, bool> EachUse()
    {
        var data = new TheoryData<string, bool, bool>();
        foreach (string use in Uses.Keys)
        {
            data.Add(use, false, false);
            data.Add(use, false, true);
            data.Add(use, true, false);
        }

        return data;
    }

    [Theory]
    [MemberData(nameof(EachUse))]
    public async Task A_hosted_service_that_was_added_before_the_node_may_await_it_in_each_step_of_the_start(
        string use, bool awaitsInStarting, bool startsConcurrently)
    {
        var builder = Host.CreateEmptyApplicationBuilder(new HostApplicationBuilderSettings { DisableDefaults = true });
        builder.Services.Configure<HostOptions>(options => options.ServicesStartConcurrently = startsConcurrently);
        var service = new ScriptedService();
        builder.Services.AddSingleton<IHostedService>(provider =>
        {
            Func<CancellationToken, Task> run = token => Uses[use](provider, token);
            service.OnStarting = awaitsInStarting ? run : null;
            service.OnStart = awaitsInStarting ? null : run;
            return service;
        });
        builder.Services.AddQuickSilver(options => options.Cluster = "order")
            .AddPublisher<string>("news").AddRequester<string, string>("q").AddState<string, string>("s");
        builder.Services.UseInMemoryQuickSilver();
        using var host = builder.Build();
        await host.StartAsync().OrFail();
        await host.StopAsync().OrFail();
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Messages_that_services_publish_when_the_host_stops_are_sent_in_any_order_of_services(bool stopsConcurrently)
    {
        var network = new InMemoryNetwork();
        var options = new QuickSilverOptions { Cluster = "order" };
        await using var other = await network.StartNodeAsync(options);
        await using var received = await other.OpenSubscriberAsync<string>("news");
        var heard = new ConcurrentQueue<string>();
        using var handler = received.SubscribeInline((in Message<string> message) => heard.Enqueue(message.Value));

        var builder = Host.CreateEmptyApplicationBuilder(new HostApplicationBuilderSettings { DisableDefaults = true });
        builder.Services.Configure<HostOptions>(host => host.ServicesStopConcurrently = stopsConcurrently);
        AddPublisherAtStop("before");
        builder.Services.AddQuickSilver(node => node.Cluster = "order").AddPublisher<string>("news");
        builder.Services.AddQuickSilver("second", node => node.Cluster = "order").AddPublisher<string>("news");
        AddPublisherAtStop("after");
        builder.Services.UseInMemoryQuickSilver(network);
        using var host = builder.Build();
        await host.StartAsync().OrFail();
        await host.Services.GetRequiredService<ITopicPublisher<string>>().WaitForSubscribersAsync(1).OrFail();
        await host.Services.GetRequiredKeyedService<ITopicPublisher<string>>("second").WaitForSubscribersAsync(1).OrFail();
        await host.StopAsync().OrFail();
        string[] expected =
        [
            "before, stop", "before, second", "before, stopped", "after, stop", "after, second", "after, stopped",
        ];
        await Patience.Until(() => heard.Count == expected.Length);
        Assert.Equal(expected.Order(), heard.Order());

        void AddPublisherAtStop(string name) => builder.Services.AddSingleton<IHostedService>(services => new ScriptedService
        {
            OnStop = async token =>
            {
                await services.GetRequiredService<ITopicPublisher<string>>().PublishAsync($"{name}, stop", token);
                await services.GetRequiredKeyedService<ITopicPublisher<string>>("second").PublishAsync($"{name}, second", token);
            },
            OnStopped = async token =>
                await services.GetRequiredService<ITopicPublisher<string>>().PublishAsync($"{name}, stopped", token),
        });
    }

    [Fact]
    public async Task A_consumer_begins_when_the_services_before_it_have_started_and_ends_before_any_stops()
    {
        var steps = new ConcurrentQueue<string>();
        var network = new InMemoryNetwork();
        await using var other = await network.StartNodeAsync(new QuickSilverOptions { Cluster = "order" });
        await using var sent = await other.OpenPublisherAsync<string>("jobs");
        var consuming = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var builder = Host.CreateEmptyApplicationBuilder(new HostApplicationBuilderSettings { DisableDefaults = true });
        builder.Services.AddSingleton<IHostedService>(services => new ScriptedService
        {
            OnStart = async token =>
            {
                var node = await services.GetRequiredService<IQuickSilverNodeAccessor>().GetAsync(token);
                await node.OpenTopicAsync<string>("own", cancellationToken: token);
                Assert.Equal(0, sent.Subscribers);
                steps.Enqueue("started");
            },
            OnStop = _ =>
            {
                steps.Enqueue("stop");
                return Task.CompletedTask;
            },
        });
        builder.Services.AddQuickSilver(options => options.Cluster = "order").AddConsumer<string, Recorder>("jobs");
        builder.Services.AddSingleton(new Recorder(steps, consuming));
        builder.Services.UseInMemoryQuickSilver(network);
        using var host = builder.Build();
        await host.StartAsync().OrFail();
        await sent.WaitForSubscribersAsync(1).OrFail();
        await sent.PublishAsync("job").OrFail();
        await consuming.Task.OrFail();
        var stopping = host.StopAsync();
        await Patience.Until(() => Recorder.IsStopAskedFor(host));
        steps.Enqueue("the consumer may end");
        host.Services.GetRequiredService<Recorder>().Gate.SetResult();
        await stopping.OrFail();
        Assert.Equal(["started", "job", "the consumer may end", "job is handled", "stop"], steps);
    }

    [Fact]
    public async Task A_host_that_knows_no_lifecycle_starts_and_stops_the_node_too()
    {
        var services = new ServiceCollection();
        services.AddLogging();
        services.AddQuickSilver(options => options.Cluster = "order").AddTopic<string>("news");
        services.UseInMemoryQuickSilver();
        await using var provider = services.BuildServiceProvider();
        IHostedService[] hosted = [.. provider.GetServices<IHostedService>()];
        foreach (var service in hosted)
        {
            await service.StartAsync(CancellationToken.None).OrFail();
        }

        var topic = provider.GetRequiredService<ITopic<string>>();
        await topic.PublishAsync("x").OrFail();
        foreach (var service in hosted.Reverse())
        {
            await service.StopAsync(CancellationToken.None).OrFail();
        }

        await Assert.ThrowsAsync<ObjectDisposedException>(() => topic.PublishAsync("x").AsTask()).OrFail();
    }

    [Fact]
    public async Task A_start_that_fails_leaves_no_node_when_the_host_is_disposed()
    {
        await using var hosted = new HostedNodes(builder =>
        {
            builder.Services.AddQuickSilver().AddTopic<string>("t");
            builder.Services.AddSingleton<IHostedService>(new ScriptedService
            {
                OnStarting = _ => throw new InvalidOperationException("no database"),
            });
        });
        var nodes = hosted.Nodes;
        var failure = await Assert.ThrowsAsync<InvalidOperationException>(() => hosted.Host.StartAsync()).OrFail();
        Assert.Equal("no database", failure.Message);
        await nodes.GetAsync().OrFail();
        var parts = Assert.Single(hosted.Parts);
        await parts.Time.RunUntilAsync(((IAsyncDisposable)hosted.Host).DisposeAsync().AsTask()).OrFail();
        Assert.True(parts.IsStopped);
        await Assert.ThrowsAsync<ObjectDisposedException>(() => nodes.GetAsync()).OrFail();
    }

    [Fact]
    public async Task A_start_that_is_cancelled_while_a_service_waits_for_the_node_ends()
    {
        await using var hosted = new HostedNodes(builder =>
        {
            builder.Services.AddSingleton<IHostedService>(services => new ScriptedService
            {
                OnStart = token => services.GetRequiredService<IQuickSilverNodeAccessor>().GetAsync(token),
            });
            builder.Services.AddQuickSilver();
        })
        {
            HoldsStarts = true,
        };
        using var cancellation = new CancellationTokenSource();
        var start = hosted.Host.StartAsync(cancellation.Token);
        Assert.False(start.IsCompleted);
        await cancellation.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => start).OrFail();
        await hosted.Host.StopAsync().OrFail();
    }

    private sealed class Recorder(ConcurrentQueue<string> steps, TaskCompletionSource consuming) : IConsumer<string>
    {
        public TaskCompletionSource Gate { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public static bool IsStopAskedFor(IHost host) =>
            host.Services.GetRequiredKeyedService<NodeLifetime>(new HostedNode(Key: null)).IsStoppingConsumers;

        public async ValueTask ConsumeAsync(Message<string> message, CancellationToken cancellationToken)
        {
            steps.Enqueue(message.Value);
            consuming.SetResult();
            await Gate.Task;
            steps.Enqueue($"{message.Value} is handled");
        }
    }

    private sealed class ScriptedService : IHostedLifecycleService
    {
        public Func<CancellationToken, Task>? OnStarting { get; set; }

        public Func<CancellationToken, Task>? OnStart { get; set; }

        public Func<CancellationToken, Task>? OnStop { get; init; }

        public Func<CancellationToken, Task>? OnStopped { get; init; }

        public Task StartingAsync(CancellationToken cancellationToken) => Run(OnStarting, cancellationToken);

        public Task StartAsync(CancellationToken cancellationToken) => Run(OnStart, cancellationToken);

        public Task StartedAsync(CancellationToken cancellationToken) => Task.CompletedTask;

        public Task StoppingAsync(CancellationToken cancellationToken) => Task.CompletedTask;

        public Task StopAsync(CancellationToken cancellationToken) => Run(OnStop, cancellationToken);

        public Task StoppedAsync(CancellationToken cancellationToken) => Run(OnStopped, cancellationToken);

        private static Task Run(Func<CancellationToken, Task>? step, CancellationToken cancellationToken) =>
            step?.Invoke(cancellationToken) ?? Task.CompletedTask;
    }
}
