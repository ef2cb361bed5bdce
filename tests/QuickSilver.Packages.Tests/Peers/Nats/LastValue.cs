// NATS.Net with JetStream's key-value store
using NATS.Client.KeyValueStore;
using NATS.Net;

// Prices are set in one process, and one that starts later shows the last one of each share: lastvalue set|show SERVER
await using var nats = new NatsClient(args[1]);
var prices = await nats.CreateKeyValueStoreContext().CreateStoreAsync("prices");
if (args[0] == "set")
{
    for (int i = 1; i <= 100; i++)
    {
        await prices.PutAsync("UAL", new Price(i, "USD"));
        await prices.PutAsync("LHA", new Price(i, "EUR"));
    }

    Console.WriteLine("set");
    return;
}

await foreach (string symbol in prices.GetKeysAsync())
{
    var price = (await prices.GetEntryAsync<Price>(symbol)).Value!;
    Console.WriteLine($"{symbol} costs {price.Amount} {price.Currency}");
}

public sealed record Price(decimal Amount, string Currency);
