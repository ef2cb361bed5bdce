// MassTransit 8 with RabbitMQ
using Contracts;
using MassTransit;

// The last release exchanges orders with the next one: versionsold BROKER
var bus = Bus.Factory.CreateUsingRabbitMq(rabbit =>
{
    rabbit.Host(args[0]);
    rabbit.ReceiveEndpoint("old", endpoint => endpoint.Handler<Order>(order => Console.Out.WriteLineAsync($"{order.Message}")));
});
await bus.StartAsync();
await bus.Publish(new Order("tea", 2));
await Task.Delay(TimeSpan.FromSeconds(10));
await bus.StopAsync();

namespace Contracts
{
    public sealed record Order(string Product, int Count);
}
