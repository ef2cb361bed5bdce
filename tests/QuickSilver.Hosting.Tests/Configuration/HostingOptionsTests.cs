using System.Text;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Microsoft.Extensions.Options;
using QuickSilver.Hosting.Configuration;
using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Hosting.Tests.Configuration;

public sealed class HostingOptionsTests
{
    [Fact]
    public void Each_option_of_a_topic_is_read_from_configuration_and_replaces_that_of_the_code()
    {
        var settings = Bind(
            ("Topics:prices:Guarantee", "BestEffort"),
            ("Topics:prices:ReaderCapacity", "7"),
            ("Topics:prices:SlowReader", "dropoldest"),
            ("Topics:prices:SlowReaderLimit", "00:00:05"),
            ("Topics:prices:StampPublishTime", "true"),
            ("Topics:prices:ReceiveOwnMessages", "false"),
            ("Topics:prices:RequireQuorum", "true"),
            ("Topics:prices:ServiceLossLimit", "00:00:09"),
            ("Topics:flights/ORD:ReaderCapacity", "8"));
        var expected = new TopicOptions
        {
            Guarantee = Guarantee.BestEffort,
            ReaderCapacity = 7,
            SlowReader = SlowReaderPolicy.DropOldest,
            SlowReaderLimit = TimeSpan.FromSeconds(5),
            StampPublishTime = true,
            ReceiveOwnMessages = false,
            RequireQuorum = true,
            ServiceLossLimit = TimeSpan.FromSeconds(9),
        };
        Assert.Equivalent(expected, HostingOptionsCheck.OfTopic("prices", new TopicOptions(), settings), strict: true);
        Assert.Equivalent(expected, HostingOptionsCheck.OfTopic("Prices", new TopicOptions(), settings), strict: true);
        var inCode = new TopicOptions { ReaderCapacity = 3, SlowReader = SlowReaderPolicy.DropWrite };
        var inBoth = new TopicOptions { ReaderCapacity = 8, SlowReader = SlowReaderPolicy.DropWrite };
        Assert.Equivalent(inBoth, HostingOptionsCheck.OfTopic("flights/ORD", inCode, settings), strict: true);
        Assert.Equal(3, inCode.ReaderCapacity);
        Assert.Same(inCode, HostingOptionsCheck.OfTopic("other", inCode, settings));
        // An option that is new must be read as well.
        Assert.All(
            ConfigurationKeys.OfTopics,
            key => Assert.NotEqual(key.Property.GetValue(new TopicOptions()), key.Property.GetValue(expected)));
    }

    [Fact]
    public void Limits_members_and_tags_are_read_from_configuration()
    {
        var options = Bind(
            ("Hosting:DrainLimit", "00:00:10"),
            ("Hosting:ConsumerLimit", "00:00:20"),
            ("Hosting:ReadyWhenMembers", "3"),
            ("Hosting:WhenExpelled", "stophost"),
            ("Hosting:LiveTags:0", "a"),
            ("Hosting:ReadyTags:0", "b"),
            ("Hosting:ReadyTags:1", "c"));
        Assert.Equal(
            (TimeSpan.FromSeconds(10), TimeSpan.FromSeconds(20), 3, ExpulsionResponse.StopHost),
            (options.DrainLimit, options.ConsumerLimit, options.ReadyWhenMembers, options.WhenExpelled));
        Assert.Equal(["a", "b", "c"], options.LiveTags.Concat(options.ReadyTags));
        Assert.All(
            ConfigurationKeys.OfHosting,
            key => Assert.NotEqual(key.Property.GetValue(new QuickSilverHostingOptions()), key.Property.GetValue(options)));
    }

    [Theory]
    [InlineData("Hosting:DrainLimit", "-00:00:01", "The option Hosting:DrainLimit is -00:00:01. Allowed: 00:00:00 to 1.00:00:00.")]
    [InlineData("Hosting:ConsumerLimit", "2.00:00:00", "The option Hosting:ConsumerLimit is 2.00:00:00. Allowed: 00:00:00 to 1.00:00:00.")]
    [InlineData("Hosting:ReadyWhenMembers", "0", "The option Hosting:ReadyWhenMembers is 0. Allowed: 1 to 100,000.")]
    [InlineData("Hosting:LiveTags:0", "", "The option Hosting:LiveTags is a list with an empty tag. Allowed: a list of texts.")]
    [InlineData("Hosting:WhenExpelled", "7", "The option Hosting:WhenExpelled is ")]
    [InlineData("Hosting:DrainLimit", "soon", "The option Hosting:DrainLimit is \"soon\". Allowed: a time in days, hours, ")]
    [InlineData(
        "Hosting:DrainLimits", "1",
        "Unknown option 'Hosting:DrainLimits' in the configuration. Did you mean 'Hosting:DrainLimit'? ")]
    [InlineData("DrainLimit", "1", "Unknown option 'DrainLimit' in the configuration. Did you mean 'Hosting:DrainLimit'? ")]
    [InlineData("BufferBytes", "1", "Unknown option 'BufferBytes' in the configuration. Did you mean 'Limits:BufferBytes'? ")]
    [InlineData("Topic:prices:ReaderCapacity", "1", "Unknown option 'Topic' in the configuration. Did you mean 'Topics'? ")]
    [InlineData("Colour", "1", "Unknown option 'Colour' in the configuration. Valid options: BusyPoll, Cluster, ")]
    [InlineData(
        "Topics:prices:ReaderCapacty", "1",
        "Unknown option 'Topics:prices:ReaderCapacty' in the configuration. Did you mean 'Topics:prices:ReaderCapacity'? ")]
    [InlineData("Topics:prices:ReaderCapacity", "0", "The option Topics:prices:ReaderCapacity is 0. Allowed: 1 to 1,048,576.")]
    [InlineData(
        "Topics:prices:SlowReader", "Block",
        "The option Topics:prices:SlowReader is \"Block\". Allowed: Wait, DropOldest or DropWrite.")]
    [InlineData("Topics:prices:ReaderCapacity", "x", "The option Topics:prices:ReaderCapacity is \"x\". Allowed: a whole number.")]
    [InlineData(
        "Topics:prises:ReaderCapacity", "1",
        "The configuration has options for 'Topics:prises', but the host adds no topic with this name. Did you mean 'prices'? "
        + "Topics of the host: news, prices. ")]
    [InlineData(
        "Topics:prices/*:ReaderCapacity", "1",
        "The configuration has options for 'Topics:prices/*', which is no topic: The topic name contains '*' at position 7. ")]
    public async Task A_wrong_key_or_value_fails_the_start_with_what_is_allowed_or_was_meant(string key, string value, string message)
    {
        var settings = HostedNodes.Settings(($"Q:{key}", value), ("Q:Cluster", "c")).GetSection("Q");
        await using var hosted = new HostedNodes(
            builder => builder.Services.AddQuickSilver(settings).AddTopic<string>("prices").AddSubscriber<string>("news"));
        var failure = await Assert.ThrowsAnyAsync<Exception>(() => hosted.Host.StartAsync()).OrFail();
        Assert.True(failure is OptionsValidationException or QuickSilverOptionsException, failure.ToString());
        Assert.Contains(message, failure.Message);
        Assert.Equal(0, hosted.Attempts);
    }

    [Theory]
    [InlineData("""{ "Other": { } }""")]
    [InlineData("""{ "Quicksilber": { "Cluster": "a" } }""")]
    [InlineData("""{ "Node": { } }""")]
    public async Task A_section_that_is_missing_fails_the_start_by_its_name(string json)
    {
        var settings = new ConfigurationBuilder().AddJsonStream(new MemoryStream(Encoding.UTF8.GetBytes(json))).Build();
        await using var hosted = new HostedNodes(builder => builder.Services.AddQuickSilver(settings.GetSection("Node")));
        var failure = await Assert.ThrowsAsync<QuickSilverOptionsException>(() => hosted.Host.StartAsync()).OrFail();
        Assert.StartsWith("The configuration has no section 'Node', from which the options of a node are read", failure.Message);
        Assert.EndsWith("or call AddQuickSilver without a section for the default options.", failure.Message);
    }

    [Fact]
    public async Task A_topic_of_a_host_is_opened_with_its_options_from_configuration()
    {
        var settings = HostedNodes.Settings(("Q:Topics:t:Guarantee", "BestEffort"), ("Q:Hosting:LiveTags:0", "alive")).GetSection("Q");
        await using var hosted = new HostedNodes(builder => builder.Services.AddQuickSilver(settings).AddTopic<string>("t"));
        await hosted.Host.StartAsync().OrFail();
        await hosted.Host.Services.GetRequiredService<ITopic<string>>().PublishAsync("x").OrFail();
        Assert.Equal("BestEffort", Assert.Single(hosted.Parts).Service.Requests[^1].Contract.Guarantee);
        Assert.Equal(HealthStatus.Healthy, (await hosted.CheckAsync("alive")).Status);
        Assert.Equal(HealthStatus.Healthy, (await hosted.CheckAsync("ready")).Status);
    }

    private static QuickSilverHostingOptions Bind(params (string Key, string Value)[] settings)
    {
        var options = new QuickSilverHostingOptions();
        OptionsBinding.Bind(HostedNodes.Settings(settings), options);
        return options;
    }
}
