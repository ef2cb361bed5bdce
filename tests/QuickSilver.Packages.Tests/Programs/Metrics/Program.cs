using System.Runtime.Serialization;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using OpenTelemetry.Metrics;
using QuickSilver;
using QuickSilver.Hosting;

// Orders are published in one process and consumed in another, and both count them: metrics publish|consume CLUSTER
var builder = Host.CreateApplicationBuilder(args);
builder.Services.AddOpenTelemetry().WithMetrics(metrics => metrics.AddMeter("QuickSilver").AddConsoleExporter(
    (_, reader) => reader.PeriodicExportingMetricReaderOptions.ExportIntervalMilliseconds = 1000));
var cluster = builder.Services.AddQuickSilver(options => options.Cluster = args[1]);
if (args[0] == "consume")
{
    cluster.AddConsumer<Order, Shop>("orders");
}
else
{
    cluster.AddPublisher<Order>("orders");
    builder.Services.AddHostedService<Customer>();
}

await builder.Build().RunAsync();

public sealed class Customer(ITopicPublisher<Order> orders) : BackgroundService
{
    protected override async Task ExecuteAsync(CancellationToken stoppingToken)
    {
        for (int i = 1; ; i++)
        {
            await orders.PublishAsync(new Order("tea", i), stoppingToken);
            await Task.Delay(100, stoppingToken);
        }
    }
}

public sealed class Shop : IConsumer<Order>
{
    public ValueTask ConsumeAsync(Message<Order> message, CancellationToken cancellationToken) => ValueTask.CompletedTask;
}

[DataContract]
public sealed record Order([property: DataMember(Order = 1)] string Product, [property: DataMember(Order = 2)] int Number);
