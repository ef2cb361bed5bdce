using Aspire.Hosting;
using Aspire.Hosting.ApplicationModel;
using Microsoft.Extensions.DependencyInjection;

namespace QuickSilver.Aspire.Tests;

// An app host with the orchestrator of Aspire: real processes on the loopback interface.
public sealed class RunningAppHostTests
{
    // The orchestrator starts processes one after another, each of which compiles itself.
    private static readonly TimeSpan Limit = TimeSpan.FromMinutes(2);

    [Fact]
    public async Task Two_projects_that_reference_the_cluster_exchange_a_message()
    {
        string orchestrator = AppHost.Known("OrchestratorPath");
        Assert.SkipUnless(File.Exists(orchestrator), "The orchestrator of Aspire is a package for Linux on x64 only in these tests.");
        using var limit = new CancellationTokenSource(Limit);
        var builder = AppHost.ToRun();
        builder.Configuration["DcpPublisher:CliPath"] = orchestrator;
        // It must be set, although the app host has no dashboard.
        builder.Configuration["DcpPublisher:DashboardPath"] = orchestrator;
        var bus = builder.AddQuickSilver("bus");
        string node = AppHost.Known("NodePath");
        var nodes = new Dictionary<string, IResource>();
        foreach (string role in new[] { "consume", "publish" })
        {
            nodes[role] = builder.AddExecutable(role, "dotnet", ".", node, role).WithReference(bus).WaitFor(bus).Resource;
        }

        await using var application = builder.Build();
        await application.StartAsync(limit.Token);
        await application.ResourceNotifications.WaitForResourceHealthyAsync("bus", limit.Token);
        await NextAsync(application, nodes["consume"], "consumed hello", limit.Token);
        await NextAsync(application, nodes["publish"], "published hello", limit.Token);
        await application.StopAsync(limit.Token);
    }

    private static async Task NextAsync(
        DistributedApplication application, IResource resource, string line, CancellationToken cancellationToken)
    {
        var written = new List<string>();
        try
        {
            await foreach (var lines in application.Services.GetRequiredService<ResourceLoggerService>().WatchAsync(resource)
                .WithCancellation(cancellationToken))
            {
                written.AddRange(lines.Select(static one => one.Content));
                if (written.Any(one => one.Contains(line, StringComparison.Ordinal)))
                {
                    return;
                }
            }
        }
        catch (OperationCanceledException)
        {
        }

        Assert.Fail($"{resource.Name} has not written '{line}'. It wrote:\n{string.Join('\n', written)}");
    }
}
