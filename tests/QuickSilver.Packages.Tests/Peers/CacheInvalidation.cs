// MassTransit 8 with RabbitMQ
using System.Collections.Concurrent;
using Contracts;
using MassTransit;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;

// A shop keeps prices in memory until another process changes them: cacheinvalidation shop BROKER, cacheinvalidation change BROKER PRICE
var builder = Host.CreateApplicationBuilder(args);
builder.Services.AddSingleton<ConcurrentDictionary<string, string>>();
builder.Services.AddMassTransit(bus =>
{
    bus.AddConsumer<Invalidation>().Endpoint(endpoint =>
    {
        endpoint.InstanceId = $"{Environment.ProcessId}";
        endpoint.Temporary = true;
    });
    bus.UsingRabbitMq((context, rabbit) =>
    {
        rabbit.Host(args[1]);
        rabbit.ConfigureEndpoints(context);
    });
});
using var host = builder.Build();
await host.StartAsync();
if (args[0] == "change")
{
    await File.WriteAllTextAsync("tea.txt", args[2]);
    await host.Services.GetRequiredService<IBus>().Publish(new ProductChanged("tea"));
    await host.StopAsync();
    return;
}

var cache = host.Services.GetRequiredService<ConcurrentDictionary<string, string>>();
while (true)
{
    Console.WriteLine($"tea costs {cache.GetOrAdd("tea", product => File.ReadAllText($"{product}.txt"))}");
    await Task.Delay(100);
}

public sealed class Invalidation(ConcurrentDictionary<string, string> cache) : IConsumer<ProductChanged>
{
    public Task Consume(ConsumeContext<ProductChanged> context)
    {
        cache.TryRemove(context.Message.Product, out _);
        return Task.CompletedTask;
    }
}

namespace Contracts
{
    public sealed record ProductChanged(string Product);
}
