// NATS.Net
using System.Threading.Channels;
using NATS.Client.Core;
using NATS.Net;

// A reader too slow for each position of a ship gets the newest ones, and knows that it missed some: slowreader publish|read SERVER
await using var nats = new NatsClient(args[1]);
if (args[0] == "publish")
{
    for (int i = 1; ; i++)
    {
        await nats.PublishAsync("positions", new Position("Aurora", i, i));
        await Task.Delay(1);
    }
}

nats.Connection.MessageDropped += (_, _) =>
{
    Console.WriteLine("missed 1");
    return default;
};
var newest = new NatsSubOpts { ChannelOpts = new NatsSubChannelOpts { Capacity = 10, FullMode = BoundedChannelFullMode.DropOldest } };
await foreach (var message in nats.SubscribeAsync<Position>("positions", opts: newest))
{
    Console.WriteLine($"{message.Data!.Ship} at {message.Data.X}, {message.Data.Y}");
    await Task.Delay(100);
}

public sealed record Position(string Ship, int X, int Y);
