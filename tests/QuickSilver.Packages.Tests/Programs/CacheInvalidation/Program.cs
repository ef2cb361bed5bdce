using System.Collections.Concurrent;
using System.Runtime.Serialization;
using QuickSilver;

// A shop keeps prices in memory until another process changes them: cacheinvalidation shop CLUSTER, cacheinvalidation change CLUSTER PRICE
await using var node = await QuickSilverNode.StartAsync(new QuickSilverOptions { Cluster = args[1] });
await using var changes = await node.OpenTopicAsync<ProductChanged>("products/changed");
if (args[0] == "change")
{
    await File.WriteAllTextAsync("tea.txt", args[2]);
    await changes.WaitForSubscribersAsync(2);
    await changes.PublishAsync(new ProductChanged("tea"), PublishCompletion.Stable);
    return;
}

var cache = new ConcurrentDictionary<string, string>();
using var drop = changes.SubscribeInline((in message) => cache.TryRemove(message.Value.Product, out _), onGap: _ => cache.Clear());
while (true)
{
    Console.WriteLine($"tea costs {cache.GetOrAdd("tea", product => File.ReadAllText($"{product}.txt"))}");
    await Task.Delay(100);
}

[DataContract]
public sealed record ProductChanged([property: DataMember(Order = 1)] string Product);
