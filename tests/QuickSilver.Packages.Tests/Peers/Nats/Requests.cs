// NATS.Net
using NATS.Net;

// What does a share cost? requests respond|ask SERVER
await using var nats = new NatsClient(args[1]);
if (args[0] == "respond")
{
    await foreach (var request in nats.SubscribeAsync<string>("quotes"))
    {
        await request.ReplyAsync(await FindAsync(request.Data!));
    }
}

var reply = await nats.RequestAsync<string, Quote>("quotes", "UAL");
Console.WriteLine($"{reply.Data!.Symbol} costs {reply.Data.Price}");

static async ValueTask<Quote> FindAsync(string symbol)
{
    await Task.Delay(10);
    return new Quote(symbol, 12.5m);
}

public sealed record Quote(string Symbol, decimal Price);
