// NATS.Net
using System.Text.Json.Serialization;
using NATS.Client.Core;

// Compiled ahead of time: aheadoftime publish|read SERVER
var options = new NatsOpts { Url = args[1], SerializerRegistry = new NatsJsonContextSerializerRegistry(PriceContext.Default) };
await using var nats = new NatsConnection(options);
if (args[0] == "publish")
{
    for (int i = 1; ; i++)
    {
        await nats.PublishAsync("prices", new Price("UAL", i));
        await Task.Delay(100);
    }
}

await foreach (var message in nats.SubscribeAsync<Price>("prices"))
{
    Console.WriteLine($"{message.Data!.Symbol} costs {message.Data.Amount}");
}

public sealed record Price(string Symbol, decimal Amount);

[JsonSerializable(typeof(Price))]
internal sealed partial class PriceContext : JsonSerializerContext;
