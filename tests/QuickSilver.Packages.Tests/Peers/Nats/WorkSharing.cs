// NATS.Net
using NATS.Net;

// Two workers share the jobs that another process publishes: worksharing publish|work SERVER
await using var nats = new NatsClient(args[1]);
if (args[0] == "publish")
{
    for (int i = 1; ; i++)
    {
        await nats.PublishAsync("jobs", new Job(i, "paint"));
        await Task.Delay(100);
    }
}

await foreach (var message in nats.SubscribeAsync<Job>("jobs", queueGroup: "workers"))
{
    Console.WriteLine($"job {message.Data!.Number}: {message.Data.What}");
}

public sealed record Job(int Number, string What);
