using System.Runtime.Serialization;
using QuickSilver;

// The next release, whose orders have a currency, exchanges them with the last one: versionsnew CLUSTER
await using var node = await QuickSilverNode.StartAsync(new QuickSilverOptions { Cluster = args[0] });
await using var orders = await node.OpenTopicAsync<Order>("orders", new TopicOptions { ReceiveOwnMessages = false });
await orders.WaitForSubscribersAsync(2);
await orders.PublishAsync(new Order("coffee", 3, "USD"), PublishCompletion.Stable);
Console.WriteLine((await orders.ReadAllAsync().FirstAsync()).Value);

[DataContract]
public sealed record Order(
    [property: DataMember(Order = 1)] string Product,
    [property: DataMember(Order = 2)] int Count,
    [property: DataMember(Order = 3)] string? Currency);
