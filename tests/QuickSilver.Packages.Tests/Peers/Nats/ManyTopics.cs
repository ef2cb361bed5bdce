// NATS.Net
using NATS.Net;

// A subject for each share, and one reader of all of them, those to come included: manytopics publish|read SERVER
await using var nats = new NatsClient(args[1]);
if (args[0] == "publish")
{
    string[] symbols = ["UAL", "DAL", "LHA"];
    for (int i = 1; ; i++)
    {
        await nats.PublishAsync($"prices.{symbols[i % symbols.Length]}", new Price(i, "USD"));
        await Task.Delay(100);
    }
}

await foreach (var message in nats.SubscribeAsync<Price>("prices.>"))
{
    Console.WriteLine($"{message.Subject}: {message.Data!.Amount} {message.Data.Currency}");
}

public sealed record Price(decimal Amount, string Currency);
