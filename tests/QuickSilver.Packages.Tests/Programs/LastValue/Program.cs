using System.Runtime.Serialization;
using QuickSilver;

// Prices are set in one process, and one that starts later shows the last one of each share: lastvalue set|show CLUSTER
await using var node = await QuickSilverNode.StartAsync(new QuickSilverOptions { Cluster = args[1] });
await using var prices = await node.OpenStateAsync<string, Price>("prices");
if (args[0] == "set")
{
    for (int i = 1; i <= 100; i++)
    {
        await prices.SetAsync("UAL", new Price(i, "USD"));
        await prices.SetAsync("LHA", new Price(i, "EUR"));
    }

    Console.WriteLine("set");
    await Task.Delay(Timeout.Infinite);
}

foreach (var (symbol, price) in prices.GetSnapshot())
{
    Console.WriteLine($"{symbol} costs {price.Amount} {price.Currency}");
}

[DataContract]
public sealed record Price([property: DataMember(Order = 1)] decimal Amount, [property: DataMember(Order = 2)] string Currency);
