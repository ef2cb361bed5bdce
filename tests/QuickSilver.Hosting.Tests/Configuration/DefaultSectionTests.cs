using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;
using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Hosting.Tests.Configuration;

public sealed class DefaultSectionTests
{
    [Fact]
    public async Task The_section_QuickSilver_is_read_without_being_named()
    {
        await using var hosted = Build(
            static services => services.AddQuickSilver().AddTopic<string>("t"),
            ("QuickSilver:Cluster", "plant"),
            ("QuickSilver:Hosting:ReadyWhenMembers", "3"),
            ("QuickSilver:Topics:t:Guarantee", "BestEffort"));
        Assert.Equal(("plant", 3), Read(hosted));
        await hosted.Host.StartAsync().OrFail();
        await hosted.Host.Services.GetRequiredService<ITopic<string>>().PublishAsync("x").OrFail();
        Assert.Equal("BestEffort", Assert.Single(hosted.Parts).Service.Requests[^1].Contract.Guarantee);
    }

    [Fact]
    public async Task Without_the_section_the_defaults_are_used()
    {
        await using var hosted = Build(static services => services.AddQuickSilver(), ("Logging:LogLevel:Default", "Debug"));
        Assert.Equal((new QuickSilverOptions().Cluster, 1), Read(hosted));
        await hosted.Host.StartAsync().OrFail();
    }

    [Fact]
    public void A_container_without_a_configuration_has_the_defaults()
    {
        using var provider = new ServiceCollection().AddQuickSilver().Services.BuildServiceProvider();
        Assert.Equal(new QuickSilverOptions().Cluster, provider.GetRequiredService<IOptions<QuickSilverOptions>>().Value.Cluster);
    }

    [Fact]
    public async Task Code_replaces_what_the_section_says()
    {
        await using var hosted = Build(
            static services => services.AddQuickSilver(static options => options.Cluster = "code")
                .ConfigureHosting(static options => options.ReadyWhenMembers = 2),
            ("QuickSilver:Cluster", "file"),
            ("QuickSilver:Hosting:ReadyWhenMembers", "3"));
        Assert.Equal(("code", 2), Read(hosted));
    }

    [Fact]
    public async Task A_section_that_is_named_is_read_instead()
    {
        var settings = HostedNodes.Settings(("Node:Cluster", "named")).GetSection("Node");
        await using var hosted = Build(
            services => services.AddQuickSilver(settings),
            ("QuickSilver:Cluster", "file"),
            ("QuickSilver:Hosting:ReadyWhenMembers", "3"));
        Assert.Equal(("named", 1), Read(hosted));
    }

    [Fact]
    public async Task A_node_with_a_key_does_not_read_it()
    {
        await using var hosted = Build(
            static services => services.AddQuickSilver("lan2"), ("QuickSilver:Cluster", "file"));
        string cluster = hosted.Host.Services.GetRequiredService<IOptionsMonitor<QuickSilverOptions>>().Get("lan2").Cluster;
        Assert.Equal(new QuickSilverOptions().Cluster, cluster);
    }

    [Fact]
    public async Task An_unknown_key_in_it_fails_the_start()
    {
        await using var hosted = Build(static services => services.AddQuickSilver(), ("QuickSilver:Kluster", "c"));
        var failure = await Assert.ThrowsAnyAsync<Exception>(() => hosted.Host.StartAsync()).OrFail();
        Assert.Contains("Unknown option 'Kluster' in the configuration. Did you mean 'Cluster'?", failure.Message);
        Assert.Equal(0, hosted.Attempts);
    }

    private static HostedNodes Build(Action<IServiceCollection> add, params (string Key, string Value)[] settings) => new(builder =>
    {
        builder.Configuration.AddConfiguration(HostedNodes.Settings(settings));
        add(builder.Services);
    });

    private static (string Cluster, int Members) Read(HostedNodes hosted) => (
        hosted.Host.Services.GetRequiredService<IOptions<QuickSilverOptions>>().Value.Cluster,
        hosted.Host.Services.GetRequiredService<IOptions<QuickSilverHostingOptions>>().Value.ReadyWhenMembers);
}
