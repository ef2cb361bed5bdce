using LastValue;
using QuickSilver;

// An exchange sets prices, and a screen that is switched on later shows the last one of each share, and then every change. In production
// they are processes; here they are nodes of one.
var options = new QuickSilverOptions { Cluster = $"exchange-{Guid.NewGuid():N}" };
await using var exchange = await QuickSilverNode.StartAsync(options);
await using var prices = await exchange.OpenStateAsync<string, Price>("prices");
for (int i = 0; i < 1000; i++)
{
    await prices.SetAsync("UAL", new Price(40m + (i % 10)));
    await prices.SetAsync("DAL", new Price(60m + (i % 10)));
}

await prices.SetAsync("PAN", new Price(1m));
await prices.RemoveAsync("PAN");

await using var screen = await QuickSilverNode.StartAsync(options);
// Completes when the screen has what the exchange has.
await using var shown = await screen.OpenStateAsync<string, Price>("prices");
foreach (var (share, price) in shown.GetSnapshot().OrderBy(one => one.Key))
{
    Console.WriteLine($"{share} costs {price.Amount}");
}

Console.WriteLine($"PAN is gone: {!shown.TryGet("PAN", out _)}");
await prices.SetAsync("UAL", new Price(55m));
await foreach (var change in shown.WatchChangesAsync())
{
    if (change is { Key: "UAL", Value.Amount: 55m })
    {
        Console.WriteLine("UAL has gone up to 55");
        break;
    }
}
