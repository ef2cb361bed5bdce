using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Microsoft.Extensions.Hosting;
using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Hosting.Tests.Patterns;

// Requests and states of hosts with real nodes on the loopback interface, as the fakes have no members.
public sealed class RequestAndStateTests
{
    private readonly string _cluster = $"patterns {Guid.NewGuid():N}";

    [Fact]
    public async Task A_responder_is_a_scoped_service_and_an_injected_requester_waits_for_the_node()
    {
        using var host = Build(builder =>
        {
            builder.Services.AddScoped<Scope>();
            builder.Services.AddQuickSilver(options => options.Cluster = _cluster)
                .AddRequester<string, string>("greet")
                .AddResponder<string, string, Greeter>("greet");
        });
        var requester = host.Services.GetRequiredService<IRequester<string, string>>();
        Assert.Same(requester, host.Services.GetRequiredKeyedService<IRequester<string, string>>("greet"));
        var early = requester.AskAsync("early", TimeSpan.FromSeconds(15));
        Assert.Equal((0, 0), (requester.Responders, requester.Outstanding));
        await host.StartAsync().OrFail();
        string first = await early.OrFail();
        string second = await requester.AskAsync("late").OrFail();
        Assert.StartsWith("early of scope ", first, StringComparison.Ordinal);
        Assert.StartsWith("late of scope ", second, StringComparison.Ordinal);
        Assert.NotEqual(first["early".Length..], second["late".Length..]);
        var failed = await Assert.ThrowsAsync<ResponderFailedException>(() => requester.AskAsync("")).OrFail();
        Assert.Equal("No name to greet.", failed.Error);
        Assert.Single(await requester.AskAllAsync("all").OrFail());
        await host.StopAsync().OrFail();
        await Assert.ThrowsAsync<ObjectDisposedException>(() => requester.AskAsync("after")).OrFail();
    }

    [Fact]
    public async Task A_request_whose_node_does_not_join_in_time_says_so()
    {
        await using var hosted = new HostedNodes(builder => builder.Services.AddQuickSilver().AddRequester<string, string>("r"))
        {
            HoldsStarts = true,
        };
        await hosted.Host.StartAsync().OrFail();
        var asked = hosted.Host.Services.GetRequiredService<IRequester<string, string>>().AskAsync("x", TimeSpan.FromSeconds(3));
        await hosted.Time.RunUntilAsync(asked.ContinueWith(static _ => 0, TaskScheduler.Default));
        var failure = await Assert.ThrowsAsync<NoResponderException>(() => asked);
        Assert.Contains("had not joined within 3 s. Look at the check quicksilver-ready", failure.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_state_is_shared_by_hosts_and_a_change_made_before_the_node_has_joined_waits_for_it()
    {
        using var first = Build(Add);
        using var second = Build(Add);
        var here = first.Services.GetRequiredService<IState<string, string>>();
        var there = second.Services.GetRequiredKeyedService<IState<string, string>>("rooms");
        var early = here.SetAsync("a", "1").AsTask();
        Assert.Equal((false, 0, false), (early.IsCompleted, here.Count, here.TryGet("a", out _)));
        await first.StartAsync().OrFail();
        await early.OrFail();
        await second.StartAsync().OrFail();
        await Patience.Until(() => there.IsComplete && there.TryGet("a", out string? value) && value == "1");
        await using var changes = there.WatchChangesAsync().GetAsyncEnumerator();
        Assert.True(await changes.MoveNextAsync().OrFail());
        Assert.Equal(("a", "1"), (changes.Current.Key, changes.Current.Value));
        Assert.True(await here.RemoveAsync("a").OrFail());
        Assert.True(await changes.MoveNextAsync().OrFail());
        Assert.True(changes.Current.IsRemoved);
        await Patience.Until(() => there.Count == 0);
        await first.StopAsync().OrFail();
        await second.StopAsync().OrFail();

        void Add(IHostApplicationBuilder builder) =>
            builder.Services.AddQuickSilver(options => options.Cluster = _cluster).AddState<string, string>("rooms");
    }

    [Fact]
    public async Task A_host_is_ready_when_its_requests_and_states_are_open()
    {
        using var host = Build(builder => builder.Services.AddQuickSilver(options => options.Cluster = _cluster)
            .AddState<string, string>("s").AddRequester<string, string>("r").AddResponder<string, string, Greeter>("r"));
        var checks = host.Services.GetRequiredService<HealthCheckService>();
        Assert.Equal(HealthStatus.Unhealthy, (await checks.CheckHealthAsync()).Status);
        await host.StartAsync().OrFail();
        await Patience.Until(() => checks.CheckHealthAsync().GetAwaiter().GetResult().Status == HealthStatus.Healthy);
        await host.StopAsync().OrFail();
    }

    [Fact]
    public void A_second_addition_or_one_with_an_invalid_option_is_refused()
    {
        var builder = new ServiceCollection().AddQuickSilver().AddState<string, string>("s").AddRequester<string, string>("r");
        var twice = Assert.Throws<ArgumentException>(() => builder.AddState<string, string>("s"));
        Assert.StartsWith(
            "State \"s\" with the types System.String and System.String is already added", twice.Message, StringComparison.Ordinal);
        Assert.Throws<ArgumentException>(() => builder.AddRequester<string, string>("r"));
        Assert.Throws<QuickSilverOptionsException>(
            () => builder.AddRequester<string, string>("q", new RequesterOptions { MaxOutstanding = 0 }));
        Assert.Throws<ArgumentOutOfRangeException>(
            () => builder.AddResponder<string, string, Greeter>("q", scope: (ConsumerScope)7));
        Assert.Throws<ArgumentException>(() => builder.AddResponder<string, string, Greeter>("\n"));
    }

    private static IHost Build(Action<IHostApplicationBuilder> build)
    {
        var builder = Host.CreateEmptyApplicationBuilder(new HostApplicationBuilderSettings { DisableDefaults = true });
        build(builder);
        return builder.Build();
    }

    private sealed class Scope
    {
        private static int _last;

        public int Number { get; } = Interlocked.Increment(ref _last);
    }

    private sealed class Greeter(Scope? scope = null) : IRequestHandler<string, string>
    {
        public async ValueTask<string> HandleAsync(Message<string> request, CancellationToken cancellationToken)
        {
            await Task.Yield();
            return request.Value.Length == 0
                ? throw new InvalidOperationException("No name to greet.")
                : $"{request.Value} of scope {scope?.Number}";
        }
    }
}
