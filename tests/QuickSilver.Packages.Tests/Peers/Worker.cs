// MassTransit 8 with RabbitMQ
using Contracts;
using MassTransit;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;

// A sensor in one process, and the archive of what it reads in another: worker publish|consume BROKER
var builder = Host.CreateApplicationBuilder(args);
builder.Services.AddMassTransit(bus =>
{
    if (args[0] == "consume")
    {
        bus.AddConsumer<Archive>();
    }

    bus.UsingRabbitMq((context, rabbit) =>
    {
        rabbit.Host(args[1]);
        rabbit.ConfigureEndpoints(context);
    });
});
if (args[0] == "publish")
{
    builder.Services.AddHostedService<Sensor>();
}

await builder.Build().RunAsync();

public sealed class Sensor(IBus bus) : BackgroundService
{
    protected override async Task ExecuteAsync(CancellationToken stoppingToken)
    {
        for (int i = 1; ; i++)
        {
            await bus.Publish(new Reading("cellar", i), stoppingToken);
            await Task.Delay(100, stoppingToken);
        }
    }
}

public sealed class Archive : IConsumer<Reading>
{
    public async Task Consume(ConsumeContext<Reading> context)
    {
        await Console.Out.WriteLineAsync($"{context.Message.Place}: {context.Message.Value}");
    }
}

namespace Contracts
{
    public sealed record Reading(string Place, double Value);
}
