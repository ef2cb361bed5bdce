using System.Collections.Concurrent;
using CacheInvalidation;
using QuickSilver;

// Two instances of a shop with a cache each. In production they are two processes; here they are two nodes of one.
var store = new ConcurrentDictionary<int, string>(new Dictionary<int, string> { [1] = "tea, 4.00", [2] = "coffee, 5.00" });
var options = new QuickSilverOptions { Cluster = $"shop-{Guid.NewGuid():N}" };
await using var first = await QuickSilverNode.StartAsync(options);
await using var second = await QuickSilverNode.StartAsync(options);
await using var changes = await first.OpenTopicAsync<ProductChanged>("products/changed");
await using var changesAtSecond = await second.OpenSubscriberAsync<ProductChanged>("products/changed");
using var cache = new ProductCache(changes, id => store[id]);
using var cacheAtSecond = new ProductCache(changesAtSecond, id => store[id]);
await changes.WaitForSubscribersAsync(2);

Console.WriteLine($"Both caches: {cache.Get(1)} and {cacheAtSecond.Get(1)}");
Console.WriteLine($"The second has {cacheAtSecond.Get(2)}");

store[1] = "tea, 4.50";
// Completes when all subscribers hold the message, so that none uses the old price for long.
await changes.PublishAsync(new ProductChanged(1), PublishCompletion.Stable);
while (cache.Contains(1) || cacheAtSecond.Contains(1))
{
    await Task.Delay(1);
}

Console.WriteLine($"Both caches: {cache.Get(1)} and {cacheAtSecond.Get(1)}");
Console.WriteLine($"The second kept coffee: {cacheAtSecond.Contains(2)}");
