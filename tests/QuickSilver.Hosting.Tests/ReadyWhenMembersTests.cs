using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Microsoft.Extensions.Hosting;
using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Hosting.Tests;

// Two hosts of one cluster on the loopback interface.
public sealed class ReadyWhenMembersTests
{
    private readonly string _cluster = $"members {Guid.NewGuid():N}";

    [Fact]
    public async Task A_host_is_ready_while_as_many_members_as_it_requires_are_there()
    {
        using var first = Build();
        await first.StartAsync().OrFail();
        var node = await first.Services.GetRequiredService<IQuickSilverNodeAccessor>().GetAsync().OrFail();
        // The node has joined before it learns the members.
        await Patience.Until(() => node.Status.Members == 1);
        var alone = await CheckAsync(first);
        Assert.Equal(HealthStatus.Unhealthy, alone.Status);
        Assert.StartsWith("The cluster has 1 member, and the host requires 2. Waiting for 1 more member since ", alone.Description);
        Assert.Equal("1 more member", Assert.IsType<StatusReason>(alone.Data["TooFewMembers"]).WaitsFor);

        using (var second = Build())
        {
            await second.StartAsync().OrFail();
            await UntilAsync(first, HealthStatus.Healthy);
            await UntilAsync(second, HealthStatus.Healthy);
            Assert.Equal(2, (await CheckAsync(first)).Data["Members"]);
            await second.StopAsync().OrFail();
        }

        await UntilAsync(first, HealthStatus.Unhealthy);
        Assert.Contains("TooFewMembers", (await CheckAsync(first)).Data.Keys);
        await first.StopAsync().OrFail();
    }

    private static async Task UntilAsync(IHost host, HealthStatus status)
    {
        for (int i = 0; i < 2000 && (await CheckAsync(host)).Status != status; i++)
        {
            await Task.Delay(10);
        }

        Assert.Equal(status, (await CheckAsync(host)).Status);
    }

    private static async Task<HealthReportEntry> CheckAsync(IHost host)
    {
        var report = await host.Services.GetRequiredService<HealthCheckService>().CheckHealthAsync(check => check.Tags.Contains("ready"));
        return Assert.Single(report.Entries).Value;
    }

    private IHost Build()
    {
        var builder = Host.CreateEmptyApplicationBuilder(new HostApplicationBuilderSettings { DisableDefaults = true });
        builder.Services.AddLogging();
        builder.Services.AddQuickSilver(options => options.Cluster = _cluster).ConfigureHosting(options => options.ReadyWhenMembers = 2);
        return builder.Build();
    }
}
