using System.Collections.Concurrent;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using QuickSilver.Composition;
using QuickSilver.Tests.Infrastructure;
using QuickSilver.Tests.Infrastructure.Fakes;

namespace QuickSilver.Hosting.Tests;

// A host whose nodes stand on fakes: each start takes the next parts, and waits for the test's permission when the test asks for that.
internal sealed class HostedNodes : IAsyncDisposable
{
    private readonly ConcurrentQueue<FakeParts> _started = new();

    public HostedNodes(Action<IHostApplicationBuilder> build)
    {
        var builder = Microsoft.Extensions.Hosting.Host.CreateEmptyApplicationBuilder(
            new HostApplicationBuilderSettings { DisableDefaults = true });
        builder.Logging.Services.AddSingleton<ILoggerFactory>(Logs);
        builder.Services.AddSingleton<TimeProvider>(Time);
        builder.Services.AddSingleton<NodeStarter>(StartNodeAsync);
        build(builder);
        Host = builder.Build();
    }

    public IHost Host { get; }

    public RecordingLogs Logs { get; } = new();

    public ManualTime Time { get; } = new();

    public TaskCompletionSource Gate { get; } = new();

    public bool HoldsStarts { get; init; }

    public int Attempts { get; private set; }

    public Func<int, Exception?>? StartFault { get; init; }

    public Action<FakeParts>? Prepare { get; init; }

    public FakeParts[] Parts => [.. _started];

    public IQuickSilverNodeAccessor Nodes => Host.Services.GetRequiredService<IQuickSilverNodeAccessor>();

    public async Task<HealthReportEntry> CheckAsync(string tag)
    {
        var report = await Host.Services.GetRequiredService<HealthCheckService>().CheckHealthAsync(check => check.Tags.Contains(tag));
        return Assert.Single(report.Entries).Value;
    }

    public async ValueTask DisposeAsync()
    {
        Gate.TrySetResult();
        // Nodes give what is not stable half a second, of clocks that only tests move.
        var disposal = ((IAsyncDisposable)Host).DisposeAsync().AsTask();
        await Task.WhenAll([disposal, .. Parts.Select(parts => parts.Time.RunUntilAsync(disposal))]);
        foreach (var parts in _started)
        {
            await parts.DisposeAsync();
        }
    }

    public static IConfiguration Settings(params (string Key, string Value)[] settings) => new ConfigurationBuilder()
        .AddInMemoryCollection(settings.Select(setting => KeyValuePair.Create(setting.Key, (string?)setting.Value)))
        .Build();

    private async Task<QuickSilverNode> StartNodeAsync(QuickSilverOptions options, ILoggerFactory logs, CancellationToken cancellationToken)
    {
        Attempts++;
        if (HoldsStarts)
        {
            await Gate.Task.WaitAsync(cancellationToken);
        }

        if (StartFault?.Invoke(Attempts) is { } fault)
        {
            throw fault;
        }

        var parts = new FakeParts();
        Prepare?.Invoke(parts);
        var node = await parts.StartAsync(options, logs);
        _started.Enqueue(parts);
        return node;
    }
}
