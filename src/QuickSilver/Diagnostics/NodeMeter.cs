using System.Diagnostics.Metrics;

namespace QuickSilver.Diagnostics;

// The node's instruments, all of one meter named QuickSilver. They observe the counters that the node keeps anyway, so
// that measuring costs the hot path nothing; only the latency is recorded, one message of a topic at a time.
internal sealed class NodeMeter : IDisposable
{
    public const string Name = "QuickSilver";

    // From 5 microseconds on, in steps of about two: the range between one switch and one bad day.
    private static readonly double[] LatencySeconds =
    [
        5e-6, 10e-6, 25e-6, 50e-6, 100e-6, 250e-6, 500e-6, 1e-3, 2.5e-3, 5e-3, 10e-3, 25e-3, 50e-3, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
    ];

    private readonly Meter _meter;

    public NodeMeter(string cluster, Func<NodeCounters> read)
    {
        _meter = new Meter(new MeterOptions(Name) { Tags = [new("quicksilver.cluster", cluster)] });
        PublishToStable = _meter.CreateHistogram(
            "quicksilver.publish.stable.duration", "s",
            "From a message's acceptance by the core thread until all subscribers hold it (sampled).",
            tags: null, new InstrumentAdvice<double> { HistogramBucketBoundaries = LatencySeconds });

        // Each reads the counters anew: a collection is rare, and each value may be a moment younger than the last.
        Count("messaging.client.sent.messages", "{message}", "Messages taken by the multicast layer.", () => read().Published);
        Count("messaging.client.consumed.messages", "{message}", "Messages handed to this node's topics.", () => read().Delivered);
        Count("quicksilver.published.bytes", "By", "Payload bytes taken by the multicast layer.", () => read().PublishedBytes);
        Count("quicksilver.delivered.bytes", "By", "Payload bytes handed to this node's topics.", () => read().DeliveredBytes);
        Count("quicksilver.publish.waits", "{call}", "Publish calls that waited for room.", () => read().PublishWaits);
        Level("quicksilver.publish.queue", "By", "Bytes that wait between publishers and the core thread.", () => read().PublishQueueBytes);
        Count("quicksilver.gaps", "{message}", "Messages that topics of this node will never get.", () => read().Gaps);
        Count("quicksilver.reader.drops", "{message}", "Messages dropped because a reader was slow.", () => read().ReaderDrops);
        Count("quicksilver.handler.faults", "{exception}", "Exceptions thrown by handlers.", () => read().HandlerFaults);
        Count("quicksilver.feed.faults", "{exception}", "Exceptions thrown by attached feeds.", () => read().FeedFaults);
        Count("quicksilver.decode.faults", "{message}", "Messages whose payload could not be decoded.", () => read().DecodeFaults);
        Count("quicksilver.log.faults", "{exception}", "Exceptions thrown by the node's loggers.", () => read().LogFaults);
        Count("quicksilver.packets.sent", "{packet}", "Packets sent, repairs included.", () => read().PacketsSent);
        Count("quicksilver.packets.received", "{packet}", "Packets received.", () => read().PacketsReceived);
        Count("quicksilver.packets.dropped", "{packet}", "Packets refused by the receiver.", () => read().PacketsDropped);
        Count("quicksilver.stalls", "{stall}", "Times that something waited without progress for too long.", () => read().Stalls);
        Count("quicksilver.repairs", "{packet}", "Packets sent again or got by repair.", () => read().Repairs);
        Count("quicksilver.kernel.drops", "{packet}", "Datagrams the kernel dropped at full receive buffers.", () => read().KernelDrops);
        Level("quicksilver.unacknowledged", "By", "Bytes sent and not yet acknowledged by all.", () => read().UnackedBytes);
        Count("quicksilver.copies", "{packet}", "Packets sent as copies to members that do not hear multicast.", () => read().CopiesSent);
        Level("quicksilver.unheard", "{node}", "Senders not heard over multicast.", () => read().UnheardSenders);
        Level("quicksilver.deaf", "{node}", "Nodes that do not hear this one over multicast.", () => read().DeafMembers);
        Level("quicksilver.regions", "{region}", "Regions that the topics open here reach.", () => read().Regions);
    }

    public Histogram<double> PublishToStable { get; }

    public void Dispose() => _meter.Dispose();

    private void Count(string name, string unit, string description, Func<long> read) =>
        _meter.CreateObservableCounter(name, read, unit, description);

    private void Level(string name, string unit, string description, Func<long> read) =>
        _meter.CreateObservableGauge(name, read, unit, description);
}
