using System.Runtime.Serialization;
using QuickSilver;

// A reader too slow for each position of a ship gets the newest ones, and knows that it missed some: slowreader publish|read CLUSTER
await using var node = await QuickSilverNode.StartAsync(new QuickSilverOptions { Cluster = args[1] });
if (args[0] == "publish")
{
    await using var positions = await node.OpenPublisherAsync<Position>("positions");
    for (int i = 1; ; i++)
    {
        await positions.PublishAsync(new Position("Aurora", i, i));
        await Task.Delay(1);
    }
}

var newest = new TopicOptions { ReaderCapacity = 10, SlowReader = SlowReaderPolicy.DropOldest };
await foreach (var message in node.ReadAllAsync<Position>("positions", newest, gap => Console.WriteLine($"missed {gap.Count}")))
{
    Console.WriteLine($"{message.Value.Ship} at {message.Value.X}, {message.Value.Y}");
    await Task.Delay(100);
}

[DataContract]
public sealed record Position(
    [property: DataMember(Order = 1)] string Ship, [property: DataMember(Order = 2)] int X, [property: DataMember(Order = 3)] int Y);
