// MassTransit 8 with RabbitMQ
using Contracts;
using MassTransit;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;

// Two workers share the jobs that another process publishes, as competing consumers of one queue: worksharing publish|work BROKER
var builder = Host.CreateApplicationBuilder(args);
builder.Services.AddMassTransit(bus =>
{
    if (args[0] == "work")
    {
        bus.AddConsumer<Worker>();
    }

    bus.UsingRabbitMq((context, rabbit) =>
    {
        rabbit.Host(args[1]);
        rabbit.ConfigureEndpoints(context);
    });
});
using var host = builder.Build();
await host.StartAsync();
if (args[0] == "publish")
{
    var bus = host.Services.GetRequiredService<IBus>();
    for (int i = 1; ; i++)
    {
        await bus.Publish(new Job(i, "paint"));
        await Task.Delay(100);
    }
}

await host.WaitForShutdownAsync();

public sealed class Worker : IConsumer<Job>
{
    public async Task Consume(ConsumeContext<Job> context)
    {
        await Console.Out.WriteLineAsync($"job {context.Message.Number}: {context.Message.What}");
    }
}

namespace Contracts
{
    public sealed record Job(int Number, string What);
}
