using System.Runtime.Serialization;
using QuickSilver;

// Compiled ahead of time: aheadoftime publish|read CLUSTER
await using var node = await QuickSilverNode.StartAsync(new QuickSilverOptions { Cluster = args[1] });
if (args[0] == "publish")
{
    await using var prices = await node.OpenPublisherAsync<Price>("prices");
    for (int i = 1; ; i++)
    {
        await prices.PublishAsync(new Price("UAL", i));
        await Task.Delay(100);
    }
}

await foreach (var message in node.ReadAllAsync<Price>("prices"))
{
    Console.WriteLine($"{message.Value.Symbol} costs {message.Value.Amount}");
}

[DataContract]
public sealed record Price([property: DataMember(Order = 1)] string Symbol, [property: DataMember(Order = 2)] decimal Amount);
