using System.Collections.Concurrent;
using System.Diagnostics;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using OpenTelemetry;
using OpenTelemetry.Trace;
using QuickSilver.Hosting;
using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.OpenTelemetry.Tests;

[Collection(nameof(MetricsTests))]
public sealed class TracesTests
{
    private readonly InMemoryNetwork _network = new();
    // Activities end on the threads of nodes.
    private readonly ActivityList _exported = new();

    [Fact]
    public async Task A_message_is_one_trace_from_the_publish_call_to_the_consumer_of_another_host()
    {
        using var sending = Build(static quicksilver => quicksilver.AddPublisher<string>("orders"));
        using var receiving = Build(static quicksilver => quicksilver.AddConsumer<string, Orders>("orders"), isTraced: false);
        await receiving.StartAsync().OrFail();
        await sending.StartAsync().OrFail();
        var orders = sending.Services.GetRequiredService<ITopicPublisher<string>>();
        await orders.WaitForSubscribersAsync(1).OrFail();
        await orders.PublishAsync("buy 100", PublishCompletion.Stable).OrFail();

        await Patience.Until(() => _exported.Count == 2);
        var published = _exported.Single("publish orders");
        var processed = _exported.Single("process orders");
        Assert.Equal((ActivityKind.Producer, ActivityKind.Consumer), (published.Kind, processed.Kind));
        Assert.Equal((published.TraceId, published.SpanId), (processed.TraceId, processed.ParentSpanId));
        Assert.Equal("QuickSilver", published.Source.Name);
        await sending.StopAsync().OrFail();
        await receiving.StopAsync().OrFail();
    }

    [Fact]
    public async Task A_request_is_a_client_activity_with_its_outcome()
    {
        using var provider = Sdk.CreateTracerProviderBuilder().AddQuickSilverInstrumentation().AddInMemoryExporter(_exported).Build();
        await using var node = await _network.StartNodeAsync().OrFail();
        await using var responder = await node.OpenResponderAsync<string, string>("echo", static (request, _) => new(request.Value))
            .OrFail();
        await using var requester = await node.OpenRequesterAsync<string, string>("echo").OrFail();
        Assert.Equal("x", await requester.AskAsync("x").OrFail());

        await Patience.Until(() => _exported.Has("request echo"));
        var request = _exported.Single("request echo");
        Assert.Equal((ActivityKind.Client, "answered"), (request.Kind, request.GetTagItem("quicksilver.request.outcome")));
    }

    [Fact]
    public async Task A_provider_without_the_instrumentation_exports_nothing()
    {
        using var provider = Sdk.CreateTracerProviderBuilder().AddSource("Another").AddInMemoryExporter(_exported).Build();
        await using var node = await _network.StartNodeAsync().OrFail();
        await using var orders = await node.OpenTopicAsync<string>("orders").OrFail();
        await orders.PublishAsync("buy 100", PublishCompletion.Stable).OrFail();

        Assert.Empty(_exported);
    }

    [Fact]
    public void Null_is_refused() =>
        Assert.Throws<ArgumentNullException>("builder", static () => ((TracerProviderBuilder)null!).AddQuickSilverInstrumentation());

    // The source is that of the process, so one provider collects the activities of both hosts.
    private IHost Build(Action<QuickSilverBuilder> add, bool isTraced = true)
    {
        var builder = Host.CreateEmptyApplicationBuilder(new HostApplicationBuilderSettings { DisableDefaults = true });
        builder.Services.UseInMemoryQuickSilver(_network);
        if (isTraced)
        {
            builder.Services.AddOpenTelemetry()
                .WithTracing(tracing => tracing.AddQuickSilverInstrumentation().AddInMemoryExporter(_exported));
        }

        add(builder.Services.AddQuickSilver());
        return builder.Build();
    }

    private sealed class Orders : IConsumer<string>
    {
        public ValueTask ConsumeAsync(Message<string> message, CancellationToken cancellationToken) => default;
    }

    private sealed class ActivityList : ICollection<Activity>
    {
        private readonly ConcurrentQueue<Activity> _activities = new();

        public int Count => _activities.Count;

        public bool IsReadOnly => false;

        public bool Has(string name) => _activities.Any(one => one.OperationName == name);

        public Activity Single(string name) => Assert.Single(_activities, one => one.OperationName == name);

        public void Add(Activity item) => _activities.Enqueue(item);

        public void Clear() => _activities.Clear();

        public bool Contains(Activity item) => _activities.Contains(item);

        public void CopyTo(Activity[] array, int arrayIndex) => _activities.CopyTo(array, arrayIndex);

        public bool Remove(Activity item) => throw new NotSupportedException();

        public IEnumerator<Activity> GetEnumerator() => _activities.GetEnumerator();

        System.Collections.IEnumerator System.Collections.IEnumerable.GetEnumerator() => GetEnumerator();
    }
}
