using System.Runtime.Serialization;
using QuickSilver;

// The last release, which exchanges orders with the next one: versionsold CLUSTER
await using var node = await QuickSilverNode.StartAsync(new QuickSilverOptions { Cluster = args[0] });
await using var orders = await node.OpenTopicAsync<Order>("orders", new TopicOptions { ReceiveOwnMessages = false });
await orders.WaitForSubscribersAsync(2);
await orders.PublishAsync(new Order("tea", 2), PublishCompletion.Stable);
Console.WriteLine((await orders.ReadAllAsync().FirstAsync()).Value);

[DataContract]
public sealed record Order([property: DataMember(Order = 1)] string Product, [property: DataMember(Order = 2)] int Count);
