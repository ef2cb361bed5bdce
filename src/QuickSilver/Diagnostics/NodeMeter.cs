using System.Diagnostics.Metrics;
using System.Globalization;

namespace QuickSilver.Diagnostics;

// The node's instruments, all of one meter named QuickSilver. They observe counters that the node keeps anyway, so measuring costs the hot
// path nothing. Only the latency is recorded, for one message of a topic at a time.
//
// The tags of the node are those of each measurement and not of the meter: OpenTelemetry takes meters of one name for one, whatever their
// tags, and would give the values of all nodes of a process to the first.
internal sealed class NodeMeter : IDisposable
{
    public const string Name = "QuickSilver";

    // From 5 microseconds in steps of about two: the range from the latency of one switch to that of a severe overload.
    private static readonly double[] LatencySeconds =
    [
        5e-6, 10e-6, 25e-6, 50e-6, 100e-6, 250e-6, 500e-6, 1e-3, 2.5e-3, 5e-3, 10e-3, 25e-3, 50e-3, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
    ];

    // Every second class of a histogram: each limit is four times the one before.
    private const int ClassStep = 2;

    private readonly Meter _meter;
    private readonly Histogram<double> _publishToStable;
    // The tags of each measurement, after its own.
    private readonly KeyValuePair<string, object?>[] _node;

    private NodeMeter(string cluster, NodeId node, Func<NodeCounters> read, Func<NodeGauges> levels)
    {
        _node = [new("quicksilver.cluster", cluster), new("quicksilver.node.id", node.ToString())];
        _meter = new Meter(new MeterOptions(Name) { Scope = cluster });
        _publishToStable = _meter.CreateHistogram(
            "quicksilver.publish.stable.duration", "s",
            "Time from acceptance of a message by the core thread until all subscribers hold it (sampled).",
            tags: null, new InstrumentAdvice<double> { HistogramBucketBoundaries = LatencySeconds });

        // Each instrument reads the counters again: collections are rare, and each value may be slightly newer than the one before.
        Count("messaging.client.sent.messages", "{message}", "Messages accepted by the multicast layer.", () => read().Published);
        Count("messaging.client.consumed.messages", "{message}", "Messages delivered to this node's topics.", () => read().Delivered);
        Count("quicksilver.published.bytes", "By", "Payload bytes accepted by the multicast layer.", () => read().PublishedBytes);
        Count("quicksilver.delivered.bytes", "By", "Payload bytes delivered to this node's topics.", () => read().DeliveredBytes);
        Count("quicksilver.publish.waits", "{call}", "Publish calls that waited for room.", () => read().PublishWaits);
        Level("quicksilver.publish.queue", "By", "Bytes queued between publishers and the core thread.", () => levels().PublishQueueBytes);
        Count("quicksilver.gaps", "{message}", "Messages that cannot be delivered to topics of this node.", () => read().Gaps);
        Count("quicksilver.reader.drops", "{message}", "Messages dropped because of a slow reader.", () => read().ReaderDrops);
        Count("quicksilver.handler.faults", "{exception}", "Exceptions thrown by handlers.", () => read().HandlerFaults);
        Count("quicksilver.feed.faults", "{exception}", "Exceptions thrown by attached feeds.", () => read().FeedFaults);
        Count("quicksilver.decode.faults", "{message}", "Messages whose payload could not be decoded.", () => read().DecodeFaults);
        Count("quicksilver.handler.blocking", "{call}", "Calls of handlers that blocked the core thread.", () => read().BlockingHandlers);
        Count("quicksilver.consumer.retries", "{call}", "Repeated calls of consumers.", () => read().ConsumerRetries);
        Count("quicksilver.consumer.skips", "{message}", "Messages that consumers skipped.", () => read().ConsumerSkips);
        Count("quicksilver.consumer.failures", "{message}", "Messages that stopped a consumer.", () => read().ConsumerFailures);
        Level("quicksilver.reader.waiting", "{message}", "Messages waiting for readers and consumers.", () => levels().WaitingForReaders);
        Count("quicksilver.requests", "{request}", "Requests made.", () => read().Requests);
        Count("quicksilver.requests.answered", "{request}", "Requests that ended with an answer.", () => read().RequestsAnswered);
        Level("quicksilver.requests.waiting", "{request}", "Requests waiting for an answer.", () => levels().RequestsWaiting);
        Level("quicksilver.state.keys", "{key}", "Keys of the open states.", () => levels().StateKeys);
        Count("quicksilver.state.snapshots.given", "{snapshot}", "States given to nodes that joined.", () => read().SnapshotsGiven);
        Count("quicksilver.state.snapshots.taken", "{snapshot}", "States taken from other nodes.", () => read().SnapshotsTaken);
        Count("quicksilver.log.faults", "{exception}", "Exceptions thrown by the node's loggers.", () => read().LogFaults);
        Count("quicksilver.packets.sent", "{packet}", "Packets sent, repairs included.", () => read().PacketsSent);
        Count("quicksilver.packets.received", "{packet}", "Packets received.", () => read().PacketsReceived);
        Count("quicksilver.packets.dropped", "{packet}", "Packets dropped by the receiver.", () => read().PacketsDropped);
        Count("quicksilver.stalls", "{stall}", "Waits without progress that exceeded the stall limit.", () => read().Stalls);
        Count("quicksilver.repairs", "{packet}", "Packets sent or received as repairs.", () => read().Repairs);
        Count("quicksilver.repair.requests", "{request}", "Requests for lost packets.", () => read().RepairRequests);
        Count("quicksilver.repair.naks.sent", "{nak}", "Collective NAKs sent.", () => read().CollectiveNaksSent);
        Count("quicksilver.repair.naks.received", "{nak}", "Collective NAKs received.", () => read().CollectiveNaksReceived);
        Count("quicksilver.kernel.drops", "{packet}", "Datagrams dropped at full receive buffers.", () => read().KernelDrops);
        Level(
            "quicksilver.unacknowledged",
            "By",
            "Bytes sent and not yet acknowledged by all members.",
            () => levels().UnacknowledgedBytes);
        Count("quicksilver.copies", "{packet}", "Unicast copies for members without multicast.", () => read().CopiesSent);
        Count("quicksilver.shared.sent", "{packet}", "Packets sent once for several regions.", () => read().SharedPacketsSent);
        Count("quicksilver.shared.saved", "{packet}", "Packets that these have saved.", () => read().SendsSaved);
        Count("quicksilver.shared.received", "{packet}", "Packets received over addresses of topics.", () => read().SharedPacketsReceived);
        Level("quicksilver.unheard", "{node}", "Senders whose multicast does not reach this node.", () => levels().UnheardSenders);
        Level("quicksilver.deaf", "{node}", "Nodes that this node's multicast does not reach.", () => levels().DeafMembers);
        Level("quicksilver.regions", "{region}", "Regions reached by the topics that are open on this node.", () => levels().Regions);
        Count("quicksilver.core.long_steps", "{step}", "Pauses of the core thread of more than 50 ms.", () => read().LongSteps);
        Time("quicksilver.core.pause.time", "Time in which the core thread stood still.", () => read().PauseTime);
        Age("quicksilver.core.pause.longest", "The longest pause of the core thread.", () => read().LongestPause);
        Count("quicksilver.core.pauses.not_running", "{pause}", "Pauses in which the process did not run.", () => read().PausesNotRunning);
        Count("quicksilver.core.pauses.collector", "{pause}", "Pauses of the garbage collector.", () => read().PausesOfCollector);
        Count("quicksilver.core.pauses.compiler", "{pause}", "Pauses of the JIT compiler.", () => read().PausesOfCompiler);
        Count("quicksilver.core.pauses.handlers", "{pause}", "Steps that took long by themselves.", () => read().PausesOfHandlers);
        Count("quicksilver.pauses.told", "{pause}", "Pauses of which other nodes told.", () => read().PausesTold);
        Count("quicksilver.core.quanta.exceeded", "{turn}", "Turns with more work of one kind than fits.", () => read().QuantaExceeded);
        Count("quicksilver.core.alarms.late", "{alarm}", "Alarms that fired more than 10 ms late.", () => read().LateAlarms);
        Time("quicksilver.core.gc.pause.time", "Time for which the collector stopped the process.", () => read().CollectorPauseTime);
        Time("quicksilver.core.receive.time", "Time of the core thread for received packets.", () => read().ReceiveTime);
        Time("quicksilver.core.alarm.time", "Time of the core thread for alarms.", () => read().AlarmTime);
        Time("quicksilver.core.request.time", "Time of the core thread for requests of other threads.", () => read().RequestTime);
        Level("quicksilver.packet.memory", "By", "Packet memory in use.", () => levels().PacketMemoryBytes);
        Level("quicksilver.pending", "{packet}", "Packets not known to be held by all members.", () => levels().PendingPackets);
        Level("quicksilver.views", "{view}", "Open views of regions of this node.", () => levels().Views);
        Level("quicksilver.views.superseded", "{view}", "Open views that newer ones superseded.", () => levels().SupersededViews);
        Age("quicksilver.views.superseded.age", "Age of the oldest superseded view.", () => levels().OldestSupersededView);
        Age("quicksilver.configuration.age", "Time since the last configuration was applied.", () => levels().ConfigurationAge);
    }

    /// <summary>The meter of a node.</summary>
    /// <param name="cluster">The value of a tag that all instruments have.</param>
    /// <param name="node">The value of another, which tells the nodes of one process apart.</param>
    /// <param name="read">Reads the counters, without histograms.</param>
    /// <param name="levels">Reads the levels.</param>
    /// <param name="all">Reads the counters with histograms.</param>
    /// <param name="topics">Reads the counts of topics. Null: the meter names no topics.</param>
    public static NodeMeter Of(
        string cluster,
        NodeId node,
        Func<NodeCounters> read,
        Func<NodeGauges> levels,
        Func<NodeCounters> all,
        Func<IReadOnlyList<TopicCounts>>? topics)
    {
        var meter = new NodeMeter(cluster, node, read, levels);
        meter.AddRequests(read);
        meter.AddShares(all);
        meter.AddHistograms(all);
        if (topics is not null)
        {
            meter.AddTopics(topics);
        }

        return meter;
    }

    // One series for each way in which a request ends.
    private void AddRequests(Func<NodeCounters> read)
    {
        _meter.CreateObservableCounter(
            "quicksilver.requests.failed",
            () => read().RequestFailures.Select((count, kind) => Tagged(count, "error.type", RequestFailure.Kinds[kind])),
            "{request}",
            "Requests that ended without an answer, by the reason.");
        _meter.CreateObservableCounter(
            "quicksilver.replies",
            () => RepliesOf(read()),
            "{request}",
            "Requests that came to responders of this node, by what became of them.");
    }

    private Measurement<long>[] RepliesOf(NodeCounters counters) =>
    [
        Tagged(counters.Replies, "quicksilver.reply", "answered"),
        Tagged(counters.RepliesFailed, "quicksilver.reply", "failed"),
        Tagged(counters.RepliesExpired, "quicksilver.reply", "expired"),
    ];

    private void AddTopics(Func<IReadOnlyList<TopicCounts>> topics)
    {
        _meter.CreateObservableCounter(
            "quicksilver.topic.sent", () => Each(static one => one.Published), "{message}", "Messages sent by this node, by topic.");
        _meter.CreateObservableCounter(
            "quicksilver.topic.consumed", () => Each(static one => one.Delivered), "{message}", "Messages delivered here, by topic.");
        _meter.CreateObservableCounter(
            "quicksilver.topic.lost", () => Each(static one => one.Lost), "{message}", "Messages that never come here, by topic.");
        _meter.CreateObservableGauge(
            "quicksilver.topic.waiting", () => Each(static one => one.Waiting), "{message}", "Messages waiting for readers, by topic.");

        IEnumerable<Measurement<long>> Each(Func<TopicCounts, long> value) =>
            topics().Select(one => Tagged(value(one), "messaging.destination.name", one.Name));
    }

    private Measurement<long> Tagged(long value, string tag, string name) => new(value, [new(tag, name), .. _node]);

    // One series for each queue and for each limit.
    private void AddShares(Func<NodeCounters> all)
    {
        Series(
            "quicksilver.core.queue.time",
            "Time of the core thread by queue.",
            "quicksilver.core.queue",
            [
                "inbound_control", "inbound_repairs", "inbound_data", "alarms", "requests",
                "outbound_control", "outbound_data", "disk", "other",
            ],
            () => QueuesOf(all().CoreThread));
        Series(
            "quicksilver.send.limited.time",
            "Time for which streams were kept from sending, by what kept them.",
            "quicksilver.send.limit",
            ["turn", "window", "rate", "reader", "memory", "view", "socket"],
            () => LimitsOf(all().SendLimits));
    }

    private static TimeSpan[] QueuesOf(CoreThreadTimes times) =>
    [
        times.InboundControl, times.InboundRepairs, times.InboundData, times.Alarms, times.Requests,
        times.OutboundControl, times.OutboundData, times.Disk, times.Other,
    ];

    private static TimeSpan[] LimitsOf(SendLimitTimes times) =>
        [times.Turn, times.Window, times.Rate, times.Reader, times.Memory, times.View, times.Socket];

    // There is no histogram that is observed. A histogram that is recorded takes a lock for each sample, and these are sampled on the core
    // thread. So each is a counter with one series per limit, as Prometheus stores histograms.
    private void AddHistograms(Func<NodeCounters> all)
    {
        Samples("quicksilver.core.alarm.lateness", "{alarm}", "Alarms by how late they fired.", () => [all().AlarmLateness]);
        Samples(
            "quicksilver.acknowledgement.duration",
            "{packet}",
            "Packets by the time until all held them.",
            () => [all().TimeToAcknowledge]);
        Samples("quicksilver.token.duration", "{round}", "Rounds of tokens by their time.", () => all().TokenRoundTrip);
        Samples("quicksilver.aggregation.duration", "{packet}", "Packets by the time to aggregate.", () => all().TimeToAggregate);
    }

    /// <summary>Whether a listener wants to know how long a message takes to become stable.</summary>
    public bool IsLatencyWatched => _publishToStable.Enabled;

    public void RecordStable(TimeSpan time) => _publishToStable.Record(time.TotalSeconds, _node[0], _node[1]);

    public void Dispose() => _meter.Dispose();

    private void Count(string name, string unit, string description, Func<long> read) =>
        _meter.CreateObservableCounter(name, () => new Measurement<long>(read(), _node), unit, description);

    private void Time(string name, string description, Func<TimeSpan> read) =>
        _meter.CreateObservableCounter(name, () => new Measurement<double>(read().TotalSeconds, _node), "s", description);

    private void Age(string name, string description, Func<TimeSpan> read) =>
        _meter.CreateObservableGauge(name, () => new Measurement<double>(read().TotalSeconds, _node), "s", description);

    private void Series(string name, string description, string tag, string[] values, Func<TimeSpan[]> read) =>
        _meter.CreateObservableCounter(
            name,
            () => read().Select((time, i) =>
                new Measurement<double>(time.TotalSeconds, [new(tag, values[i]), .. _node])),
            "s",
            description);

    private void Samples(string name, string unit, string description, Func<IReadOnlyList<TimeHistogram>> read) =>
        _meter.CreateObservableCounter(name, () => Samples(read()), unit, description);

    // Samples up to each limit, by level where there are several.
    private IEnumerable<Measurement<long>> Samples(IReadOnlyList<TimeHistogram> levels)
    {
        for (int level = 0; level < levels.Count; level++)
        {
            if (levels.Count > 1 && levels[level].Count == 0)
            {
                continue;
            }

            long count = 0;
            for (int i = 0; i < TimeHistogram.Classes; i++)
            {
                count += levels[level].Counts[i];
                if (i % ClassStep == 1)
                {
                    KeyValuePair<string, object?> limit = new("le", LimitOf(i));
                    yield return levels.Count > 1
                        ? new Measurement<long>(count, [limit, new("quicksilver.ring.level", level), .. _node])
                        : new Measurement<long>(count, [limit, .. _node]);
                }
            }
        }
    }

    private static string LimitOf(int number) => number == TimeHistogram.Classes - 1
        ? "+Inf"
        : TimeHistogram.LimitOf(number).TotalSeconds.ToString(CultureInfo.InvariantCulture);

    private void Level(string name, string unit, string description, Func<long> read) =>
        _meter.CreateObservableGauge(name, () => new Measurement<long>(read(), _node), unit, description);
}
