using QuickSilver.Simulation;

namespace QuickSilver.SimulatorSpeed;

// What the managed heap holds for nodes that have joined and do nothing, and for the same with one topic open.
internal static class IdleNodes
{
    private static readonly TimeSpan Minute = TimeSpan.FromMinutes(1);

    public static string Measure(int nodes)
    {
        // Whatever the first cluster of a process brings about is not a node's.
        Bytes(2, withTopic: true);
        return FormattableString.Invariant(
            $"{nodes} nodes: {Bytes(nodes, withTopic: false) / nodes:N0} B per idle node, ")
            + FormattableString.Invariant($"{Bytes(nodes, withTopic: true) / nodes:N0} B with one topic open");
    }

    private static long Bytes(int nodes, bool withTopic)
    {
        long before = GC.GetTotalMemory(forceFullCollection: true);
        using var cluster = new SimulatedCluster(new SimulationOptions { Nodes = nodes, TopicDelay = TimeSpan.Zero });
        cluster.Start(async node =>
        {
            if (withTopic)
            {
                var topic = await node.Node.OpenSubscriberAsync<ReadOnlyMemory<byte>>("idle");
                topic.SubscribeInline((in _) => { });
            }
        });
        cluster.Run(Minute);
        long after = GC.GetTotalMemory(forceFullCollection: true);
        GC.KeepAlive(cluster);
        return after - before;
    }
}
