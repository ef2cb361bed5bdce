using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Options;
using OpenTelemetry.Metrics;
using OpenTelemetry.Trace;
using QuickSilver.Hosting;
using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Aspire.Tests;

public sealed class ClientTests
{
    private const string Secret = "quicksilver-secret:bus:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    private const string Connection = $"Servers=127.0.0.1:7123;Cluster=trading;Secret={Secret}";

    [Fact]
    public void The_connection_string_replaces_what_the_section_of_the_node_says()
    {
        using var host = Build(
            static builder => builder.AddQuickSilver("bus", configureOptions: static options => options.BusyPoll = true),
            ("ConnectionStrings:bus", Connection),
            ("QuickSilver:Cluster", "other"),
            ("QuickSilver:Name", "shop"));

        var options = host.Services.GetRequiredService<IOptions<QuickSilverOptions>>().Value;
        Assert.Equal(
            ("127.0.0.1:7123", "trading", "shop", true),
            (Assert.Single(options.Membership.Servers), options.Cluster, options.Name, options.BusyPoll));
        Assert.Equal(NodeInterface.Loopback, options.Interface);
    }

    [Fact]
    public async Task A_missing_connection_string_fails_the_start_and_names_it()
    {
        using var host = Build(static builder => builder.AddQuickSilver("bus"));
        var failure = await Assert.ThrowsAsync<InvalidOperationException>(() => host.StartAsync()).OrFail();
        Assert.Contains("'bus'", failure.Message, StringComparison.Ordinal);
        Assert.Contains("WithReference", failure.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("Cluster=trading")]
    [InlineData($"Servers=127.0.0.1:7123;Secrets={Secret}")]
    [InlineData($"{Secret}")]
    public async Task An_invalid_connection_string_fails_the_start_without_showing_it(string text)
    {
        using var host = Build(static builder => builder.AddQuickSilver("bus"), ("ConnectionStrings:bus", text));
        var failure = await Assert.ThrowsAsync<InvalidOperationException>(() => host.StartAsync()).OrFail();
        Assert.Contains("The connection string 'bus'", failure.Message, StringComparison.Ordinal);
        Assert.DoesNotContain("AAAA", failure.ToString(), StringComparison.Ordinal);
    }

    [Fact]
    public async Task The_node_has_health_checks_metrics_and_traces()
    {
        using var host = Build(static builder => builder.AddQuickSilver("bus"), ("ConnectionStrings:bus", Connection));
        await host.StartAsync().OrFail();
        await host.Services.GetRequiredService<IQuickSilverNodeAccessor>().GetAsync().OrFail();
        Assert.Equal(["quicksilver-live", "quicksilver-ready"], Checks(host));
        Assert.NotNull(host.Services.GetService<MeterProvider>());
        Assert.NotNull(host.Services.GetService<TracerProvider>());
        await host.StopAsync().OrFail();
    }

    [Theory]
    [InlineData("Aspire:QuickSilver")]
    [InlineData("Aspire:QuickSilver:bus")]
    public void Settings_disable_each_of_them(string section)
    {
        using var host = Build(
            static builder => builder.AddQuickSilver("bus"),
            ("ConnectionStrings:bus", Connection),
            ($"{section}:DisableHealthChecks", "true"),
            ($"{section}:DisableMetrics", "true"),
            ($"{section}:DisableTracing", "true"));
        Assert.Empty(Checks(host));
        Assert.Null(host.Services.GetService<MeterProvider>());
        Assert.Null(host.Services.GetService<TracerProvider>());
    }

    [Fact]
    public void Code_sets_settings_after_the_configuration()
    {
        using var host = Build(
            static builder => builder.AddQuickSilver("bus", static settings => settings.DisableMetrics = false),
            ("ConnectionStrings:bus", Connection),
            ("Aspire:QuickSilver:DisableMetrics", "true"));
        Assert.NotNull(host.Services.GetService<MeterProvider>());
    }

    [Fact]
    public void A_setting_that_is_no_value_is_refused_with_its_key()
    {
        var failure = Assert.Throws<InvalidOperationException>(
            static () => Build(static builder => builder.AddQuickSilver("bus"), ("Aspire:QuickSilver:DisableTracing", "yes")));
        Assert.Contains("Aspire:QuickSilver:DisableTracing is \"yes\"", failure.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Two_clusters_of_a_host_have_a_node_each()
    {
        using var host = Build(
            static builder =>
            {
                builder.AddQuickSilver("bus");
                builder.AddKeyedQuickSilver("lan2", static settings => settings.DisableHealthChecks = true);
            },
            ("ConnectionStrings:bus", Connection),
            ("ConnectionStrings:lan2", "Servers=127.0.0.1:7124,[::1]:7125;Cluster=second"));
        var options = host.Services.GetRequiredService<IOptionsMonitor<QuickSilverOptions>>();
        Assert.Equal(("trading", "second"), (options.CurrentValue.Cluster, options.Get("lan2").Cluster));
        Assert.Equal(["127.0.0.1:7124", "[::1]:7125"], options.Get("lan2").Membership.Servers);
        Assert.Equal(["quicksilver-live", "quicksilver-ready"], Checks(host));
    }

    private static string[] Checks(IHost host) =>
        [.. host.Services.GetRequiredService<IOptions<HealthCheckServiceOptions>>().Value.Registrations.Select(static one => one.Name)];

    private static IHost Build(Action<IHostApplicationBuilder> add, params (string Key, string Value)[] configuration)
    {
        var builder = Host.CreateEmptyApplicationBuilder(new HostApplicationBuilderSettings { DisableDefaults = true });
        builder.Configuration.AddInMemoryCollection(configuration.Select(static one => KeyValuePair.Create(one.Key, (string?)one.Value)));
        builder.Services.UseInMemoryQuickSilver();
        add(builder);
        return builder.Build();
    }
}
