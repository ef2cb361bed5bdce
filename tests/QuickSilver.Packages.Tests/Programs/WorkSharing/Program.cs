using System.Runtime.Serialization;
using QuickSilver;

// Two workers share the jobs that another process publishes: worksharing publish CLUSTER, worksharing work CLUSTER 0|1
await using var node = await QuickSilverNode.StartAsync(new QuickSilverOptions { Cluster = args[1] });
if (args[0] == "publish")
{
    var workers = await Task.WhenAll(Enumerable.Range(0, 2).Select(worker => node.OpenPublisherAsync<Job>($"jobs/{worker}")));
    for (int i = 1; ; i++)
    {
        await workers[i % 2].PublishAsync(new Job(i, "paint"));
        await Task.Delay(100);
    }
}

await foreach (var message in node.ReadAllAsync<Job>($"jobs/{args[2]}"))
{
    Console.WriteLine($"job {message.Value.Number}: {message.Value.What}");
}

[DataContract]
public sealed record Job([property: DataMember(Order = 1)] int Number, [property: DataMember(Order = 2)] string What);
