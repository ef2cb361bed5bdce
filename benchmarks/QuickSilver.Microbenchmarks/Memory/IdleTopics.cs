using QuickSilver.Endpoints;

namespace QuickSilver.Microbenchmarks.Memory;

// What an open topic that does nothing holds on the managed heap of a node on this machine that hosts the membership service too: what
// the node grows by when it opens so many more than the first. What the runtime's array pool keeps for later is in it.
internal static class IdleTopics
{
    private const int More = 8192;
    private const int OpenedAtOnce = 1024;
    // What opening leaves behind (batches, timers, tables that grew) is given back meanwhile.
    private static readonly TimeSpan Rest = TimeSpan.FromSeconds(15);

    public static async Task RunAsync()
    {
        foreach (var access in (TopicAccess[])[TopicAccess.PublishAndSubscribe, TopicAccess.Subscribe, TopicAccess.Publish])
        {
            await using var node = await QuickSilverNode.StartAsync(new QuickSilverOptions { Cluster = $"idle-{Environment.ProcessId}" });
            var topics = new List<TopicEndpoint<ReadOnlyMemory<byte>>>(More + 1);
            long one = await OpenAsync(node, access, 1, topics);
            long all = await OpenAsync(node, access, More, topics);
            Console.WriteLine($"{access}: {More} topics add {(all - one) / 1e6:0.00} MB, {(double)(all - one) / More:0} B each");
            GC.KeepAlive(topics);
        }
    }

    // Gives what lies on the heap then.
    private static async Task<long> OpenAsync(
        QuickSilverNode node, TopicAccess access, int count, List<TopicEndpoint<ReadOnlyMemory<byte>>> topics)
    {
        for (int end = topics.Count + count; topics.Count < end;)
        {
            var opening = Enumerable.Range(topics.Count, Math.Min(OpenedAtOnce, end - topics.Count))
                .Select(number => node.OpenEndpointAsync<ReadOnlyMemory<byte>>($"topic/{number:0000}", access));
            foreach (var topic in await Task.WhenAll(opening))
            {
                topics.Add(topic);
                if (access != TopicAccess.Publish)
                {
                    topic.SubscribeInline(static (in _) => { });
                }
            }
        }

        await Task.Delay(Rest);
        return GC.GetTotalMemory(forceFullCollection: true);
    }
}
