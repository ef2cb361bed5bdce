// MassTransit 8 with RabbitMQ
using Contracts;
using MassTransit;

// The next release exchanges orders with the last one: versionsnew BROKER
var bus = Bus.Factory.CreateUsingRabbitMq(rabbit =>
{
    rabbit.Host(args[0]);
    rabbit.ReceiveEndpoint("new", endpoint => endpoint.Handler<Order>(order => Console.Out.WriteLineAsync($"{order.Message}")));
});
await bus.StartAsync();
await bus.Publish(new Order("coffee", 3, "USD"));
await Task.Delay(TimeSpan.FromSeconds(10));
await bus.StopAsync();

namespace Contracts
{
    public sealed record Order(string Product, int Count, string? Currency);
}
