using System.Diagnostics;
using QuickSilver.Simulation;

namespace QuickSilver.SimulatorSpeed;

// One sender, all nodes subscribe: deliveries to handlers a second of wall-clock time, for so long. The sender sends as fast as
// the protocol lets it, so that messages share packets and packets share runs; or, at a rate, each message in a datagram of its
// own, which is the dearest that a delivery can be. The cluster stays for all rounds; the first one warms up.
internal sealed class Deliveries(int nodes, int payloadBytes, int messagesPerSecond, TimeSpan duration)
{
    private static readonly TimeSpan Step = TimeSpan.FromMilliseconds(1);

    private SimulatedCluster? _cluster;
    private long _delivered;

    private string Rate => messagesPerSecond > 0 ? $"{messagesPerSecond} messages a virtual second" : "as fast as can be";

    public string Measure()
    {
        var cluster = _cluster ??= Begin();
        long delivered = _delivered;
        long events = cluster.Events;
        long allocated = GC.GetAllocatedBytesForCurrentThread();
        var virtualTime = cluster.Now;
        var cpu = Process.GetCurrentProcess().TotalProcessorTime;
        long begun = Stopwatch.GetTimestamp();
        while (Stopwatch.GetElapsedTime(begun) < duration)
        {
            cluster.Run(Step);
        }

        double wall = Stopwatch.GetElapsedTime(begun).TotalSeconds;
        double used = (Process.GetCurrentProcess().TotalProcessorTime - cpu).TotalSeconds;
        delivered = _delivered - delivered;
        events = cluster.Events - events;
        virtualTime = cluster.Now - virtualTime;
        allocated = GC.GetAllocatedBytesForCurrentThread() - allocated;
        return $"{nodes} nodes, {payloadBytes} B, {Rate}: "
            + FormattableString.Invariant($"{delivered / wall / 1e6:F3} million deliveries a second, ")
            + FormattableString.Invariant($"{delivered / used / 1e6:F3} per CPU second, {events / wall / 1e6:F2} million events a second, ")
            + FormattableString.Invariant($"{(double)events / delivered:F3} events and {(double)allocated / delivered:F1} B a delivery, ")
            + FormattableString.Invariant($"{virtualTime.TotalSeconds:F3} virtual s in {wall:F2} s");
    }

    private SimulatedCluster Begin()
    {
        var cluster = new SimulatedCluster(new SimulationOptions { Nodes = nodes, TopicDelay = TimeSpan.Zero });
        cluster.Start(
            async node =>
            {
                var topic = await node.Node.OpenSubscriberAsync<ReadOnlyMemory<byte>>("load");
                topic.SubscribeInline((in _) => _delivered++);
            });
        var sender = cluster.RunUntilCompleted(
            cluster.Nodes[0].Node.OpenPublisherAsync<ReadOnlyMemory<byte>>("load"));
        cluster.RunUntilCompleted(sender.WaitForSubscribersAsync(nodes));
        var payload = new byte[payloadBytes];
        if (messagesPerSecond > 0)
        {
            cluster.Nodes[0].Post(() => SendAsync(cluster.Nodes[0], sender, payload));
            return cluster;
        }

        sender.AttachFeed((out value) =>
        {
            value = payload;
            return true;
        });
        return cluster;
    }

    private async Task SendAsync(SimulatedNode node, ITopicPublisher<ReadOnlyMemory<byte>> topic, byte[] payload)
    {
        using var timer = new PeriodicTimer(TimeSpan.FromSeconds(1) / messagesPerSecond, node.Time);
        while (await timer.WaitForNextTickAsync())
        {
            await topic.PublishAsync(payload);
        }
    }
}
