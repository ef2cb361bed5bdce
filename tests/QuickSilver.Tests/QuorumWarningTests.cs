using Microsoft.Extensions.Logging;
using QuickSilver.Tests.Infrastructure;
using QuickSilver.Tests.Infrastructure.Fakes;

namespace QuickSilver.Tests;

// Topics that require the membership service where it cannot protect them.
public sealed class QuorumWarningTests
{
    private const int DoesNotProtect = 1630;

    private readonly RecordingLogs _logs = new();

    [Theory]
    [InlineData(true, null, "RequireQuorum")]
    [InlineData(false, 60, "ServiceLossLimit")]
    public async Task Where_nodes_host_the_service_a_topic_that_requires_it_opens_with_one_warning(
        bool requires, int? seconds, string option)
    {
        var options = new TopicOptions
        {
            RequireQuorum = requires,
            ServiceLossLimit = seconds is { } limit ? TimeSpan.FromSeconds(limit) : null,
        };
        await using var parts = new FakeParts { IsServiceHosted = true };
        var node = await StartAsync(parts);
        await parts.OpenPublisherAsync<string>(node, "orders", options).OrFail();
        await parts.OpenPublisherAsync<string>(node, "orders", options).OrFail();
        var warning = Assert.Single(Warnings());
        Assert.Contains("\"orders\"", warning);
        Assert.Contains(option, warning);
        Assert.Contains("Membership:Servers", warning);
    }

    [Fact]
    public async Task Each_topic_that_requires_the_service_has_a_warning_of_its_own()
    {
        await using var parts = new FakeParts { IsServiceHosted = true };
        var node = await StartAsync(parts);
        await parts.OpenAsync<string>(node, "free").OrFail();
        await parts.OpenPublisherAsync<string>(node, "one", new TopicOptions { RequireQuorum = true }).OrFail();
        await parts.OpenPublisherAsync<string>(node, "other", new TopicOptions { RequireQuorum = true }).OrFail();
        Assert.Equal(2, Warnings().Count);
    }

    [Fact]
    public async Task A_named_service_protects_so_nothing_is_logged()
    {
        await using var parts = new FakeParts { IsServiceHosted = false };
        var node = await StartAsync(parts);
        await parts.OpenPublisherAsync<string>(node, "orders", new TopicOptions { RequireQuorum = true }).OrFail();
        Assert.Empty(Warnings());
    }

    [Fact]
    public async Task An_endpoint_that_only_subscribes_is_not_warned()
    {
        await using var parts = new FakeParts { IsServiceHosted = true };
        var node = await StartAsync(parts);
        await parts.OpenSubscriberAsync<string>(node, "orders", new TopicOptions { RequireQuorum = true }).OrFail();
        Assert.Empty(Warnings());
    }

    private Task<QuickSilverNode> StartAsync(FakeParts parts) => parts.StartAsync(logs: _logs).OrFail();

    private List<string> Warnings() =>
    [
        .. _logs.Entries
            .Where(static entry => entry is { Id: DoesNotProtect, Level: LogLevel.Warning })
            .Select(static entry => entry.Text),
    ];
}
