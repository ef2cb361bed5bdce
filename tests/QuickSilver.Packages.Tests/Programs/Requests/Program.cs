using System.Runtime.Serialization;
using QuickSilver;

// What does a share cost? requests respond|ask CLUSTER
await using var node = await QuickSilverNode.StartAsync(new QuickSilverOptions { Cluster = args[1] });
if (args[0] == "respond")
{
    await using var responder = await node.OpenResponderAsync<string, Quote>("quotes", (request, stop) => FindAsync(request.Value));
    await responder.Completion;
}

await using var quotes = await node.OpenRequesterAsync<string, Quote>("quotes");
await quotes.WaitForRespondersAsync(1);
var quote = await quotes.AskAsync("UAL");
Console.WriteLine($"{quote.Symbol} costs {quote.Price}");

static async ValueTask<Quote> FindAsync(string symbol)
{
    await Task.Delay(10);
    return new Quote(symbol, 12.5m);
}

[DataContract]
public sealed record Quote([property: DataMember(Order = 1)] string Symbol, [property: DataMember(Order = 2)] decimal Price);
