// MassTransit 8 with RabbitMQ, and OpenTelemetry
using Contracts;
using MassTransit;
using MassTransit.Monitoring;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using OpenTelemetry.Metrics;

// Orders are published in one process and consumed in another, and both count them: metrics publish|consume BROKER
var builder = Host.CreateApplicationBuilder(args);
builder.Services.AddOpenTelemetry().WithMetrics(metrics => metrics.AddMeter(InstrumentationOptions.MeterName).AddConsoleExporter(
    (_, reader) => reader.PeriodicExportingMetricReaderOptions.ExportIntervalMilliseconds = 1000));
builder.Services.AddMassTransit(bus =>
{
    if (args[0] == "consume")
    {
        bus.AddConsumer<Shop>();
    }

    bus.UsingRabbitMq((context, rabbit) =>
    {
        rabbit.Host(args[1]);
        rabbit.ConfigureEndpoints(context);
    });
});
if (args[0] == "publish")
{
    builder.Services.AddHostedService<Customer>();
}

await builder.Build().RunAsync();

public sealed class Customer(IBus bus) : BackgroundService
{
    protected override async Task ExecuteAsync(CancellationToken stoppingToken)
    {
        for (int i = 1; ; i++)
        {
            await bus.Publish(new Order("tea", i), stoppingToken);
            await Task.Delay(100, stoppingToken);
        }
    }
}

public sealed class Shop : IConsumer<Order>
{
    public Task Consume(ConsumeContext<Order> context) => Task.CompletedTask;
}

namespace Contracts
{
    public sealed record Order(string Product, int Number);
}
