using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using OpenTelemetry;
using OpenTelemetry.Exporter;
using OpenTelemetry.Metrics;
using OpenTelemetry.Resources;
using OpenTelemetry.Trace;
using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Hosting.Tests.Telemetry;

// What OpenTelemetry exports of two hosts, over a real connection to a receiver.
[Collection(AloneCollection.Name)]
public sealed class OpenTelemetryTests
{
    private const int Messages = 5;
    private readonly string _cluster = $"otel {Guid.NewGuid():N}";

    [Fact]
    public async Task Two_hosts_export_their_metrics_apart_and_a_message_is_one_trace_across_them()
    {
        await using var receiver = await OtlpReceiver.StartAsync().OrFail();
        using var sending = Build("sender", receiver, quicksilver => quicksilver.AddPublisher<string>("orders"));
        using var receiving = Build("receiver", receiver, quicksilver => quicksilver.AddConsumer<string, Orders>("orders"));
        await receiving.StartAsync().OrFail();
        await sending.StartAsync().OrFail();
        var orders = sending.Services.GetRequiredService<ITopicPublisher<string>>();
        await orders.WaitForSubscribersAsync(1).OrFail();
        for (int i = 0; i < Messages; i++)
        {
            await orders.PublishAsync($"order {i}", PublishCompletion.Stable).OrFail();
        }

        var handled = receiving.Services.GetRequiredService<Handled>();
        await Patience.Until(() => handled.Count == Messages);
        string sender = (await sending.Services.GetRequiredService<IQuickSilverNodeAccessor>().GetAsync().OrFail()).Id.ToString();
        string consumer = (await receiving.Services.GetRequiredService<IQuickSilverNodeAccessor>().GetAsync().OrFail()).Id.ToString();
        // One collection reads its instruments one after another, so that the last messages may come between two of them.
        await Patience.Until(() => Last(receiver, sender, "quicksilver.topic.sent", "orders") == Messages
            && Last(receiver, consumer, "quicksilver.topic.consumed", "orders") == Messages
            && Last(receiver, sender, "messaging.client.sent.messages") == Messages
            && Last(receiver, consumer, "messaging.client.consumed.messages") == Messages);
        await sending.StopAsync().OrFail();
        await receiving.StopAsync().OrFail();

        var points = receiver.Points.Values.Where(point => point.Tags.GetValueOrDefault("quicksilver.cluster") == _cluster).ToList();
        Assert.All(points, static point => Assert.Equal("QuickSilver", point.Meter));
        Assert.Equal(
            new HashSet<string> { sender, consumer }, points.Select(static point => point.Tags["quicksilver.node.id"]).ToHashSet());
        Assert.Equal((Messages, 0), (Last(receiver, sender, "messaging.client.sent.messages"),
            Last(receiver, sender, "messaging.client.consumed.messages")));
        Assert.Equal((0, Messages), (Last(receiver, consumer, "messaging.client.sent.messages"),
            Last(receiver, consumer, "messaging.client.consumed.messages")));
        string[] names =
        [
            "messaging.client.sent.messages", "quicksilver.published.bytes", "quicksilver.unacknowledged", "quicksilver.topic.waiting",
            "quicksilver.publish.stable.duration", "quicksilver.core.gc.pause.time",
        ];
        Assert.Equal(
            [("sum", "{message}"), ("sum", "By"), ("gauge", "By"), ("gauge", "{message}"), ("histogram", "s"), ("sum", "s")],
            names.Select(name => Assert.Single(
                points.Where(point => point.Name == name).Select(static point => (point.Kind, point.Unit)).Distinct())));

        AssertTraces(receiver, sender);
    }

    [Fact]
    public async Task The_metrics_of_a_host_continue_when_another_host_of_the_process_ends()
    {
        await using var receiver = await OtlpReceiver.StartAsync().OrFail();
        using var first = Build("first", receiver, static quicksilver => quicksilver.AddPublisher<string>("orders"));
        using var second = Build("second", receiver, static quicksilver => quicksilver.AddPublisher<string>("orders"));
        await first.StartAsync().OrFail();
        await second.StartAsync().OrFail();
        string[] ids = [await IdAsync(first), await IdAsync(second)];
        await Patience.Until(() => ids.All(id => Last(receiver, id, "messaging.client.sent.messages") == 0));
        await first.StopAsync().OrFail();

        await second.Services.GetRequiredService<ITopicPublisher<string>>().PublishAsync("order", PublishCompletion.Stable).OrFail();
        await Patience.Until(() => Last(receiver, ids[1], "messaging.client.sent.messages") == 1);
        await second.StopAsync().OrFail();

        static async Task<string> IdAsync(IHost host) =>
            (await host.Services.GetRequiredService<IQuickSilverNodeAccessor>().GetAsync().OrFail()).Id.ToString();
    }

    // Both hosts are in this process, and each exports the spans of both.
    private static void AssertTraces(OtlpReceiver receiver, string sender)
    {
        var spans = receiver.Spans.Where(static span => span.Tags.GetValueOrDefault("messaging.destination.name") == "orders")
            .DistinctBy(static span => span.Id).ToList();
        var published = spans.Where(static span => span.Name == "publish orders").ToList();
        var processed = spans.Where(static span => span.Name == "process orders").ToList();
        Assert.Equal((Messages, Messages), (published.Count, processed.Count));
        Assert.All(published, static span => Assert.Equal((4, "QuickSilver", "send"), (span.Kind, span.Source, Operation(span))));
        Assert.All(processed, static span => Assert.Equal((5, "QuickSilver", "process"), (span.Kind, span.Source, Operation(span))));
        Assert.All(spans, static span => Assert.Equal("quicksilver", span.Tags["messaging.system"]));
        Assert.Equal(Messages, published.Select(static span => span.Trace).Distinct().Count());
        Assert.All(processed, span => Assert.Single(published, one => one.Id == span.Parent && one.Trace == span.Trace));
        Assert.Equal(
            Enumerable.Range(1, Messages).Select(number => $"{sender}:{number}").Order(StringComparer.Ordinal),
            processed.Select(static span => span.Tags["messaging.message.id"]).Order(StringComparer.Ordinal));
    }

    private static string Operation(ExportedSpan span) => span.Tags["messaging.operation.type"];

    private static double Last(OtlpReceiver receiver, string node, string name, string? topic = null) => receiver.Points.Values
        .Where(point => point.Name == name && point.Tags.GetValueOrDefault("quicksilver.node.id") == node
            && point.Tags.GetValueOrDefault("messaging.destination.name") == topic)
        .Select(static point => point.Value)
        .DefaultIfEmpty(-1)
        .Max();

    private IHost Build(string service, OtlpReceiver receiver, Action<QuickSilverBuilder> add)
    {
        var builder = Host.CreateEmptyApplicationBuilder(new HostApplicationBuilderSettings { DisableDefaults = true });
        builder.Services.AddSingleton<Handled>();
        builder.Services.AddOpenTelemetry()
            .ConfigureResource(resource => resource.AddService(service))
            .WithMetrics(metrics => metrics.AddMeter("QuickSilver").AddOtlpExporter((exporter, reader) =>
            {
                Set(exporter, receiver, "v1/metrics");
                reader.PeriodicExportingMetricReaderOptions.ExportIntervalMilliseconds = 100;
            }))
            .WithTracing(traces => traces.AddSource("QuickSilver").AddOtlpExporter(exporter =>
            {
                Set(exporter, receiver, "v1/traces");
                exporter.ExportProcessorType = ExportProcessorType.Simple;
            }));
        add(builder.Services.AddQuickSilver(options =>
        {
            options.Cluster = _cluster;
            options.MeteredTopics = 10;
        }));
        return builder.Build();
    }

    private static void Set(OtlpExporterOptions exporter, OtlpReceiver receiver, string path)
    {
        exporter.Protocol = OtlpExportProtocol.HttpProtobuf;
        exporter.Endpoint = new Uri(receiver.EndPoint, path);
    }

    private sealed class Handled
    {
        private int _count;

        public int Count => Volatile.Read(ref _count);

        public void Add() => Interlocked.Increment(ref _count);
    }

    private sealed class Orders(Handled handled) : IConsumer<string>
    {
        public ValueTask ConsumeAsync(Message<string> message, CancellationToken cancellationToken)
        {
            handled.Add();
            return default;
        }
    }
}
