using System.Runtime.Serialization;
using QuickSilver;

// A topic for each share, and one reader of all of them, those to come included: manytopics publish|read CLUSTER
await using var node = await QuickSilverNode.StartAsync(new QuickSilverOptions { Cluster = args[1] });
if (args[0] == "publish")
{
    string[] symbols = ["UAL", "DAL", "LHA"];
    var prices = await Task.WhenAll(symbols.Select(symbol => node.OpenPublisherAsync<Price>($"prices/{symbol}")));
    for (int i = 1; ; i++)
    {
        await prices[i % prices.Length].PublishAsync(new Price(i, "USD"));
        await Task.Delay(100);
    }
}

await using var all = await node.OpenPrefixAsync<Price>("prices/", async (topic, message, stop) =>
{
    await Console.Out.WriteLineAsync($"{topic}: {message.Value.Amount} {message.Value.Currency}");
});
await all.Completion;

[DataContract]
public sealed record Price([property: DataMember(Order = 1)] decimal Amount, [property: DataMember(Order = 2)] string Currency);
