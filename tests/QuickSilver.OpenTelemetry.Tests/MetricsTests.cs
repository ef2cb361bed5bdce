using OpenTelemetry.Metrics;
using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.OpenTelemetry.Tests;

// One collection: tests of the same process would see each other's nodes on the one meter.
[Collection(nameof(MetricsTests))]
public sealed class MetricsTests
{
    private const string Sent = "messaging.client.sent.messages";
    private const string Consumed = "messaging.client.consumed.messages";
    private const int Messages = 3;

    private readonly string _cluster = $"metrics {Guid.NewGuid():N}";
    private readonly InMemoryNetwork _network = new();

    [Fact]
    public async Task Each_node_has_a_series_of_its_own_with_the_tags_of_its_cluster_and_its_id()
    {
        using var metrics = new ExportedMetrics(static builder => builder.AddQuickSilverInstrumentation());
        await using var publishing = await StartAsync();
        await using var consuming = await StartAsync();
        await PublishAsync(publishing, consuming);

        Assert.Equal((Messages, 0), (Value(metrics, Sent, publishing), Value(metrics, Sent, consuming)));
        Assert.Equal((0, Messages), (Value(metrics, Consumed, publishing), Value(metrics, Consumed, consuming)));
        Assert.All(metrics.Collect(), static one => Assert.Equal("QuickSilver", one.MeterName));
    }

    [Fact]
    public async Task The_latency_has_the_buckets_of_the_library_without_a_view()
    {
        using var metrics = new ExportedMetrics(static builder => builder.AddQuickSilverInstrumentation());
        await using var publishing = await StartAsync();
        await using var consuming = await StartAsync();
        await PublishAsync(publishing, consuming);

        var point = Assert.Single(metrics.Points("quicksilver.publish.stable.duration"), one => IsOf(one, publishing));
        var bounds = new List<double>();
        foreach (var bucket in point.GetHistogramBuckets())
        {
            bounds.Add(bucket.ExplicitBound);
        }

        // Those of the SDK begin at 0 and end at 10,000.
        Assert.Equal((5e-6, 10), (bounds[0], bounds[^2]));
        Assert.InRange(point.GetHistogramCount(), 1, Messages);
    }

    [Fact]
    public async Task Nodes_that_start_after_the_provider_are_exported_and_nodes_that_have_ended_are_not()
    {
        using var metrics = new ExportedMetrics(static builder => builder.AddQuickSilverInstrumentation());
        await using var first = await StartAsync();
        Assert.Single(metrics.Points(Sent), one => IsOf(one, first));
        var second = await StartAsync();
        Assert.Single(metrics.Points(Sent), one => IsOf(one, second));
        await second.DisposeAsync().OrFail();

        var left = metrics.Points(Sent);
        Assert.Single(left, one => IsOf(one, first));
        Assert.DoesNotContain(left, one => IsOf(one, second));
    }

    [Fact]
    public async Task A_provider_without_the_instrumentation_exports_nothing()
    {
        using var metrics = new ExportedMetrics(static builder => builder.AddMeter("Another"));
        await using var node = await StartAsync();

        Assert.Empty(metrics.Collect());
    }

    [Fact]
    public void Null_is_refused() =>
        Assert.Throws<ArgumentNullException>("builder", static () => ((MeterProviderBuilder)null!).AddQuickSilverInstrumentation());

    private long Value(ExportedMetrics metrics, string instrument, QuickSilverNode node) =>
        Assert.Single(metrics.Points(instrument), one => IsOf(one, node)).GetSumLong();

    private bool IsOf(MetricPoint point, QuickSilverNode node) =>
        ExportedMetrics.Tag(point, "quicksilver.node.id") == node.Id.ToString()
        && ExportedMetrics.Tag(point, "quicksilver.cluster") == _cluster;

    private static async Task PublishAsync(QuickSilverNode from, QuickSilverNode to)
    {
        await using var topic = await from.OpenPublisherAsync<string>("orders").OrFail();
        await using var subscriber = await to.OpenSubscriberAsync<string>("orders").OrFail();
        int handled = 0;
        subscriber.SubscribeInline((in Message<string> _) => Interlocked.Increment(ref handled));
        await topic.WaitForSubscribersAsync(1).OrFail();
        for (int i = 0; i < Messages; i++)
        {
            await topic.PublishAsync($"order {i}", PublishCompletion.Stable).OrFail();
        }

        await Patience.Until(() => Volatile.Read(ref handled) == Messages);
    }

    private Task<QuickSilverNode> StartAsync() => _network.StartNodeAsync(new QuickSilverOptions { Cluster = _cluster }).OrFail();
}
