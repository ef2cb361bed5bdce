using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Microsoft.Extensions.Options;
using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Hosting.Tests;

public sealed class KeyedNodeTests
{
    [Fact]
    public async Task Nodes_with_keys_have_options_topics_handlers_and_health_checks_of_their_own()
    {
        await using var hosted = new HostedNodes(builder =>
        {
            builder.Services.AddQuickSilver(options => options.Cluster = "one").AddTopic<string>("t");
            builder.Services.AddQuickSilver("lan2", HostedNodes.Settings(("Cluster", "two"))).AddTopic<string>("t").AddTopic<byte[]>("b");
            builder.Services.AddQuickSilver("lan3", options => options.Cluster = "three").AddTopicHandler<string, Recorder>("t");
        });
        await hosted.Host.StartAsync().OrFail();
        var services = hosted.Host.Services;
        var nodes = new Dictionary<string, QuickSilverNode>
        {
            [""] = await hosted.Nodes.GetAsync().OrFail(),
            ["lan2"] = await services.GetRequiredKeyedService<IQuickSilverNodeAccessor>("lan2").GetAsync().OrFail(),
            ["lan3"] = await services.GetRequiredKeyedService<IQuickSilverNodeAccessor>("lan3").GetAsync().OrFail(),
        };
        Assert.Equal(3, nodes.Values.Distinct().Count());
        var options = services.GetRequiredService<IOptionsMonitor<QuickSilverOptions>>();
        Assert.Equal(["one", "two", "three"], nodes.Keys.Select(key => options.Get(key).Cluster));

        var topic = services.GetRequiredService<ITopic<string>>();
        var keyed = services.GetRequiredKeyedService<ITopic<string>>("lan2:t");
        Assert.NotSame(topic, keyed);
        Assert.Same(topic, services.GetRequiredKeyedService<ITopic<string>>("t"));
        Assert.Same(keyed, services.GetRequiredKeyedService<ITopic<string>>("lan2"));
        Assert.Same(keyed, services.GetRequiredKeyedService<ITopicPublisher<string>>("lan2"));
        Assert.NotNull(services.GetRequiredKeyedService<ITopicSubscriber<byte[]>>("lan2:b"));
        await topic.PublishAsync("x").OrFail();
        var checks = services.GetRequiredService<HealthCheckService>();
        await Patience.Until(() => checks.CheckHealthAsync().GetAwaiter().GetResult().Status == HealthStatus.Healthy);
        Assert.Equal([1, 2, 1], nodes.Values.Select(static node => node.Status.OpenTopics));
        Assert.Equal([1L, 0, 0], nodes.Values.Select(static node => node.GetCounters().Published));

        var report = await checks.CheckHealthAsync();
        Assert.Equal(
            [
                "quicksilver-live", "quicksilver-live-lan2", "quicksilver-live-lan3",
                "quicksilver-ready", "quicksilver-ready-lan2", "quicksilver-ready-lan3",
            ],
            report.Entries.Keys.Order(StringComparer.Ordinal));
        Assert.All(report.Entries.Values, static entry => Assert.Equal(HealthStatus.Healthy, entry.Status));
    }

    [Fact]
    public void Two_nodes_with_one_key_and_keys_that_are_none_are_refused_where_they_are_added()
    {
        var services = new ServiceCollection();
        services.AddQuickSilver("lan2");
        var twice = Assert.Throws<ArgumentException>(() => services.AddQuickSilver("lan2", _ => { }));
        Assert.StartsWith("A node with the key \"lan2\" is already added. Use another key for another node, or the builder", twice.Message);
        services.AddQuickSilver("LAN2");
        services.AddQuickSilver();
        services.AddQuickSilver();
        Assert.All(
            ["", "a:b", "a b", new string('x', 65)],
            key => Assert.Contains("cannot be the key", Assert.Throws<ArgumentException>(() => services.AddQuickSilver(key)).Message));
    }

    [Fact]
    public void A_topic_that_is_added_twice_is_refused_with_the_node_that_has_it()
    {
        var services = new ServiceCollection();
        var builder = services.AddQuickSilver("lan2").AddTopic<string>("t");
        Assert.Equal("lan2", builder.Key);
        Assert.Contains("of the node \"lan2\"", Assert.Throws<ArgumentException>(() => builder.AddTopic<string>("t")).Message);
        // Its key would be that of the other one.
        Assert.Contains(
            "has the key \"lan2:t\"",
            Assert.Throws<ArgumentException>(() => services.AddQuickSilver().AddTopic<string>("lan2:t")).Message);
    }

    [Fact]
    public async Task A_wrong_option_of_a_node_with_a_key_names_the_node()
    {
        await using var hosted = new HostedNodes(builder => builder.Services.AddQuickSilver("lan2", options => options.PacketBytes = 10));
        var failure = await Assert.ThrowsAsync<OptionsValidationException>(() => hosted.Host.StartAsync()).OrFail();
        Assert.Contains("Node \"lan2\": The option PacketBytes is 10. Allowed: 576 to 65,507.", failure.Failures);
    }

    private sealed class Recorder : ITopicHandler<string>
    {
        public void Handle(in Message<string> message)
        {
        }
    }
}
