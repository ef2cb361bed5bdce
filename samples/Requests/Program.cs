using QuickSilver;
using Requests;

// Three shops answer what a product costs, and a customer asks them. In production they are four processes; here they are four nodes of
// one.
var options = new QuickSilverOptions { Cluster = $"market-{Guid.NewGuid():N}" };
await using var customer = await QuickSilverNode.StartAsync(options);
await using var quotes = await customer.OpenRequesterAsync<Quote, Offer>("quotes");
try
{
    await quotes.AskAsync(new Quote("tea", 1), TimeSpan.FromMilliseconds(200));
}
catch (NoResponderException)
{
    Console.WriteLine("No shop is open yet.");
}

await using var corner = await OpenShopAsync("corner", price: 4.50m);
await using var market = await OpenShopAsync("market", price: 4.20m);
await using var closed = await OpenShopAsync("closed", price: null);
await quotes.WaitForRespondersAsync(3);

// The first answer is enough.
Offer first = await quotes.AskAsync(new Quote("tea", 2));
Console.WriteLine($"The first answer comes from an open shop: {first.Shop != "closed"}");

// All answers, and the nodes without one.
var replies = await quotes.AskAllAsync(new Quote("tea", 2), TimeSpan.FromSeconds(5));
var offers = replies.Where(reply => reply.Error is null).Select(reply => reply.Value!).OrderBy(offer => offer.Price);
foreach (var offer in offers)
{
    Console.WriteLine($"{offer.Shop}: {offer.Price}");
}

foreach (var reply in replies.Where(reply => reply.Error is not null))
{
    Console.WriteLine($"One failed: {((ResponderFailedException)reply.Error!).Error}");
}

async Task<IAsyncDisposable> OpenShopAsync(string name, decimal? price)
{
    var node = await QuickSilverNode.StartAsync(options);
    await node.OpenResponderAsync<Quote, Offer>("quotes", async (request, stop) =>
    {
        // A handler may wait: for a database, for example.
        await Task.Delay(10, stop);
        return price is { } each
            ? new Offer(name, each * request.Value.Count)
            : throw new InvalidOperationException($"The shop {name} sells nothing today.");
    });
    return node;
}
