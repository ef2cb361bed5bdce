using System.Collections.Concurrent;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging.Abstractions;
using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Hosting.Tests.Patterns;

public sealed class PrefixTests : IAsyncDisposable
{
    private readonly InMemoryNetwork _network = new();
    private readonly Got _got = new();
    private QuickSilverNode? _publisher;

    [Fact]
    public async Task A_consumer_gets_the_messages_of_all_topics_of_its_prefix_and_their_names()
    {
        using var host = Build();
        var publisher = await StartPublisherAsync();
        await using var early = await publisher.OpenPublisherAsync<string>("prices/a").OrFail();
        await host.StartAsync().OrFail();
        await using var late = await publisher.OpenPublisherAsync<string>("prices/b").OrFail();
        await using var other = await publisher.OpenPublisherAsync<string>("news").OrFail();
        foreach (var topic in new[] { early, late })
        {
            await topic.WaitForSubscribersAsync(1).OrFail();
            await topic.PublishAsync("1").OrFail();
        }

        await other.PublishAsync("1").OrFail();
        await Patience.Until(() => _got.Messages.Count == 2);
        Assert.Equal([("prices/a", "1"), ("prices/b", "1")], _got.Messages.Order());
        await host.StopAsync().OrFail();
        Assert.Equal(2, _got.Messages.Count);
    }

    [Fact]
    public async Task A_host_that_stops_gives_the_consumers_of_a_prefix_the_time_of_all_consumers()
    {
        using var host = Build();
        var publisher = await StartPublisherAsync();
        await host.StartAsync().OrFail();
        await using var topic = await publisher.OpenPublisherAsync<string>("prices/a").OrFail();
        await topic.WaitForSubscribersAsync(1).OrFail();
        for (int i = 0; i < 8; i++)
        {
            await topic.PublishAsync("slow", PublishCompletion.Stable).OrFail();
        }

        await host.StopAsync().OrFail();
        Assert.Equal(8, _got.Messages.Count);
    }

    [Fact]
    public async Task A_consumer_that_failed_on_a_topic_fails_the_ready_check_with_the_topic()
    {
        using var host = Build(new PrefixOptions<string> { Consumer = new ConsumerOptions<string> { OnError = ConsumerErrors.Stop } });
        var publisher = await StartPublisherAsync();
        await host.StartAsync().OrFail();
        await using var topic = await publisher.OpenPublisherAsync<string>("prices/a").OrFail();
        await topic.WaitForSubscribersAsync(1).OrFail();
        var checks = host.Services.GetRequiredService<HealthCheckService>();
        await Patience.Until(() => checks.CheckHealthAsync().GetAwaiter().GetResult().Status == HealthStatus.Healthy);
        await topic.PublishAsync("bad").OrFail();
        await Patience.Until(() => checks.CheckHealthAsync().GetAwaiter().GetResult().Status == HealthStatus.Unhealthy);
        var report = await checks.CheckHealthAsync();
        string reason = report.Entries[QuickSilverServiceCollectionExtensions.ReadyCheck].Description!;
        Assert.Contains("Prices of topic \"prices/a\"", reason, StringComparison.Ordinal);
        await host.StopAsync().OrFail();
    }

    [Fact]
    public void A_prefix_that_is_none_and_an_invalid_option_are_refused()
    {
        var builder = new ServiceCollection().AddQuickSilver();
        Assert.Throws<ArgumentException>(() => builder.AddPrefix<string, Prices>(""));
        Assert.Throws<QuickSilverOptionsException>(
            () => builder.AddPrefix<string, Prices>("prices/", new PrefixOptions<string> { MaxTopics = 0 }));
        Assert.Throws<ArgumentOutOfRangeException>(() => builder.AddPrefix<string, Prices>("prices/", scope: (ConsumerScope)7));
    }

    public async ValueTask DisposeAsync()
    {
        if (_publisher is { } publisher)
        {
            await publisher.DisposeAsync();
        }
    }

    private async Task<QuickSilverNode> StartPublisherAsync() =>
        _publisher = await _network.StartNodeAsync(new QuickSilverOptions(), NullLoggerFactory.Instance).OrFail();

    private IHost Build(PrefixOptions<string>? options = null)
    {
        var builder = Host.CreateEmptyApplicationBuilder(new HostApplicationBuilderSettings { DisableDefaults = true });
        builder.Services.AddSingleton(_got);
        builder.Services.AddQuickSilver().AddPrefix<string, Prices>("prices/", options);
        builder.Services.UseInMemoryQuickSilver(_network);
        return builder.Build();
    }

    private sealed class Got
    {
        public ConcurrentBag<(string Topic, string Value)> Messages { get; } = [];
    }

    private sealed class Prices(Got got) : IConsumer<string>
    {
        public async ValueTask ConsumeAsync(Message<string> message, CancellationToken cancellationToken)
        {
            if (message.Value == "slow")
            {
                await Task.Delay(300, cancellationToken);
            }

            if (message.Value == "bad")
            {
                throw new InvalidOperationException("A price is bad.");
            }

            got.Messages.Add((message.Topic, message.Value));
        }
    }
}
