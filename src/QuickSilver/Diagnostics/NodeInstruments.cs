using System.Collections.Immutable;
using System.Diagnostics.Metrics;
using System.Globalization;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Multicast.Protocols;

namespace QuickSilver.Diagnostics;

// The instruments of all nodes of this process, on one meter named QuickSilver that is never disposed of. They observe counters that the
// nodes keep anyway, so measuring costs the hot path nothing. Only the latency is recorded, for one message of a topic at a time.
//
// There is one meter for the process, and the tags of a node are those of its measurements: OpenTelemetry takes meters of one name for one,
// whatever their tags, gives the values of all of them to the first, and stops an instrument for all as soon as one of them is disposed of.
internal static class NodeInstruments
{
    // From 5 microseconds in steps of about two: the range from the latency of one switch to that of a severe overload.
    private static readonly double[] LatencySeconds =
    [
        5e-6, 10e-6, 25e-6, 50e-6, 100e-6, 250e-6, 500e-6, 1e-3, 2.5e-3, 5e-3, 10e-3, 25e-3, 50e-3, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
    ];

    // Every second class of a histogram: each limit is four times the one before.
    private const int ClassStep = 2;

    private static readonly Meter Shared = new(NodeMeter.Name);
    // Null if a listener threw when it was created.
    private static readonly Histogram<double>? PublishToStable = Guarded(static () => Shared.CreateHistogram(
        "quicksilver.publish.stable.duration", "s",
        "Time from acceptance of a message by the core thread until all subscribers hold it (sampled).",
        tags: null, new InstrumentAdvice<double> { HistogramBucketBoundaries = LatencySeconds }));
    private static readonly Lock Change = new();
    // The names of instruments that protocols have added.
    private static readonly HashSet<string> OfProtocols = new(StringComparer.Ordinal);
    // Replaced as a whole, so that a collection reads it without the lock.
    private static volatile NodeMeter[] _nodes = [];

    static NodeInstruments()
    {
        // Each instrument reads the counters again: collections are rare, and each value may be slightly newer than the one before.
        Count("quicksilver.publish.accepted", "{message}", "Messages accepted of publishers.", one => one.Accepted);
        Count("messaging.client.sent.messages", "{message}", "Messages accepted by the multicast layer.", one => one.Published);
        Count("quicksilver.publish.drops", "{message}", "Accepted messages dropped before they were sent.", one => one.PublishDrops);
        Count(
            "quicksilver.publish.unacknowledged", "{message}", "Messages sent and not acknowledged when the node ended.",
            one => one.Unacknowledged);
        Count("messaging.client.consumed.messages", "{message}", "Messages delivered to this node's topics.", one => one.Delivered);
        Count("quicksilver.published.bytes", "By", "Payload bytes accepted by the multicast layer.", one => one.PublishedBytes);
        Count("quicksilver.delivered.bytes", "By", "Payload bytes delivered to this node's topics.", one => one.DeliveredBytes);
        Count("quicksilver.publish.waits", "{call}", "Publish calls that waited for room.", one => one.PublishWaits);
        Level(
            "quicksilver.publish.waiting", "{message}", "Accepted messages that wait to be sent.", one => one.PublishQueueMessages);
        Level("quicksilver.publish.queue", "By", "Bytes queued between publishers and the core thread.", one => one.PublishQueueBytes);
        Count("quicksilver.gaps", "{message}", "Messages that topics of this node did not get.", one => one.Gaps);
        Count("quicksilver.reader.drops", "{message}", "Messages dropped because a buffer was full.", one => one.ReaderDrops);
        Count("quicksilver.unhandled", "{message}", "Messages not handled before their endpoint ended.", one => one.Unhandled);
        Count("quicksilver.handler.faults", "{exception}", "Exceptions thrown by handlers.", one => one.HandlerFaults);
        Count("quicksilver.feed.faults", "{exception}", "Exceptions thrown by attached feeds.", one => one.FeedFaults);
        Count("quicksilver.decode.faults", "{message}", "Payloads that could not be decoded.", one => one.DecodeFaults);
        Count("quicksilver.handler.blocking", "{call}", "Calls of handlers that blocked the core thread.", one => one.BlockingHandlers);
        Count("quicksilver.consumer.retries", "{call}", "Repeated calls of consumers.", one => one.ConsumerRetries);
        Count("quicksilver.consumer.skips", "{message}", "Messages that consumers skipped.", one => one.ConsumerSkips);
        Count("quicksilver.consumer.failures", "{message}", "Messages that stopped a consumer.", one => one.ConsumerFailures);
        Level("quicksilver.reader.waiting", "{message}", "Messages waiting for readers and consumers.", one => one.WaitingForReaders);
        Count("quicksilver.requests", "{request}", "Requests made.", one => one.Requests);
        Count("quicksilver.requests.answered", "{request}", "Requests that ended with an answer.", one => one.RequestsAnswered);
        Level("quicksilver.requests.waiting", "{request}", "Requests waiting for an answer.", one => one.RequestsWaiting);
        Level("quicksilver.state.keys", "{key}", "Keys of the open states.", one => one.StateKeys);
        Count("quicksilver.state.snapshots.given", "{snapshot}", "States given to nodes that joined.", one => one.SnapshotsGiven);
        Count("quicksilver.state.snapshots.taken", "{snapshot}", "States taken from other nodes.", one => one.SnapshotsTaken);
        Count("quicksilver.log.faults", "{exception}", "Exceptions thrown by the node's loggers.", one => one.LogFaults);
        Count(
            "quicksilver.listener.faults", "{exception}", "Exceptions thrown by listeners to meters and activities.",
            one => one.ListenerFaults);
        Count("quicksilver.packets.sent", "{packet}", "Packets sent, repairs included.", one => one.PacketsSent);
        Count("quicksilver.packets.received", "{packet}", "Packets received.", one => one.PacketsReceived);
        Count("quicksilver.rights.drops", "{message}", "Messages of senders without the right.", one => one.MessagesWithoutRight);
        Count("quicksilver.keys.missing", "{send}", "Sends refused for want of a view's key.", one => one.SendsWithoutKey);
        Count("quicksilver.stalls", "{stall}", "Waits without progress that exceeded the stall limit.", one => one.Stalls);
        Count("quicksilver.repairs", "{packet}", "Packets sent or received as repairs.", one => one.Repairs);
        Count("quicksilver.repair.requests", "{request}", "Requests for lost packets.", one => one.RepairRequests);
        Count("quicksilver.repair.naks.sent", "{nak}", "Collective NAKs sent.", one => one.CollectiveNaksSent);
        Count("quicksilver.repair.naks.received", "{nak}", "Collective NAKs received.", one => one.CollectiveNaksReceived);
        Count("quicksilver.kernel.drops", "{train}", "Trains of 1 to 64 packets dropped at full receive buffers.", one => one.KernelDrops);
        Level(
            "quicksilver.unacknowledged",
            "By",
            "Bytes sent and not yet acknowledged by all members.",
            one => one.UnacknowledgedBytes);
        Count("quicksilver.copies", "{packet}", "Unicast copies for members without multicast.", one => one.CopiesSent);
        Count("quicksilver.shared.sent", "{packet}", "Packets sent once for several regions.", one => one.SharedPacketsSent);
        Count("quicksilver.shared.saved", "{packet}", "Packets that these have saved.", one => one.SendsSaved);
        Count("quicksilver.shared.received", "{packet}", "Packets received over addresses of topics.", one => one.SharedPacketsReceived);
        Level("quicksilver.unheard", "{node}", "Senders whose multicast does not reach this node.", one => one.UnheardSenders);
        Level("quicksilver.deaf", "{node}", "Nodes that this node's multicast does not reach.", one => one.DeafMembers);
        Level("quicksilver.paths.small", "{node}", "Nodes whose path carries less than PacketBytes.", one => one.SmallPaths);
        Level("quicksilver.path.bytes", "By", "The largest packet that all paths of this node carry.", one => one.SmallestPathBytes);
        Level("quicksilver.regions", "{region}", "Regions reached by the topics that are open on this node.", one => one.Regions);
        Count("quicksilver.core.long_steps", "{step}", "Pauses of the core thread of more than 50 ms.", one => one.LongSteps);
        Time("quicksilver.core.pause.time", "Time in which the core thread stood still.", one => one.PauseTime);
        Age("quicksilver.core.pause.longest", "The longest pause of the core thread.", static one => one.ReadCounts().LongestPause);
        Count("quicksilver.core.pauses.not_running", "{pause}", "Pauses in which the process did not run.", one => one.PausesNotRunning);
        Count("quicksilver.core.pauses.collector", "{pause}", "Pauses of the garbage collector.", one => one.PausesOfCollector);
        Count("quicksilver.core.pauses.compiler", "{pause}", "Pauses of the JIT compiler.", one => one.PausesOfCompiler);
        Count("quicksilver.core.pauses.handlers", "{pause}", "Steps that took long by themselves.", one => one.PausesOfHandlers);
        Count("quicksilver.pauses.told", "{pause}", "Pauses that other nodes reported.", one => one.PausesTold);
        Count("quicksilver.core.quanta.exceeded", "{turn}", "Turns with more work of one kind than fits.", one => one.QuantaExceeded);
        Count("quicksilver.core.alarms.late", "{alarm}", "Alarms that fired more than 10 ms late.", one => one.LateAlarms);
        Time("quicksilver.core.gc.pause.time", "Time for which the collector stopped the process.", one => one.CollectorPauseTime);
        Count("quicksilver.pool.starvations", "{starvation}", "Times in which the pool started no work.", one => one.PoolStarvations);
        Time("quicksilver.core.receive.time", "Time of the core thread for received packets.", one => one.ReceiveTime);
        Time("quicksilver.core.alarm.time", "Time of the core thread for alarms.", one => one.AlarmTime);
        Time("quicksilver.core.request.time", "Time of the core thread for requests of other threads.", one => one.RequestTime);
        Level("quicksilver.packet.memory", "By", "Packet memory in use.", one => one.PacketMemoryBytes);
        Level("quicksilver.pending", "{packet}", "Packets not known to be held by all members.", one => one.PendingPackets);
        Level("quicksilver.views", "{view}", "Open views of regions of this node.", one => one.Views);
        Level("quicksilver.views.superseded", "{view}", "Open views that newer ones superseded.", one => one.SupersededViews);
        Age(
            "quicksilver.views.superseded.age",
            "Age of the oldest superseded view.",
            static one => one.ReadGauges().OldestSupersededView);
        Age(
            "quicksilver.configuration.age",
            "Time since the last configuration was applied.",
            static one => one.ReadGauges().ConfigurationAge);
        AddDrops();
        AddRequests();
        AddTopics();
        AddShares();
        AddHistograms();
    }

    /// <summary>Whether a listener wants to know how long a message takes to become stable.</summary>
    public static bool IsLatencyWatched => PublishToStable is { Enabled: true };

    public static void RecordStable(TimeSpan time, KeyValuePair<string, object?>[] node)
    {
        long began = ListenerTime.Begin();
        try
        {
            PublishToStable?.Record(time.TotalSeconds, node[0], node[1]);
        }
        catch (Exception)
        {
            ListenerFaults.Add();
        }

        ListenerTime.EndListener(began);
    }

    public static void Add(NodeMeter node)
    {
        lock (Change)
        {
            _nodes = [.. _nodes, node];
        }
    }

    public static void Remove(NodeMeter node)
    {
        lock (Change)
        {
            _nodes = [.. _nodes.Where(one => one != node)];
        }
    }

    /// <summary>Creates the instruments of a protocol, once for the process.</summary>
    public static void Add(IReadOnlyList<ProtocolCounter> counters)
    {
        foreach (var counter in counters)
        {
            lock (Change)
            {
                if (!OfProtocols.Add(counter.Name))
                {
                    continue;
                }
            }

            Func<IEnumerable<Measurement<long>>> observe = () => Each(node =>
                node.Protocols.Where(one => one.Name == counter.Name).Select(one => node.Measure(one.Read())));
            if (counter.IsLevel)
            {
                Gauge(counter.Name, observe, counter.Unit, counter.Description);
            }
            else
            {
                Counter(counter.Name, observe, counter.Unit, counter.Description);
            }
        }
    }

    // One series for each reason.
    private static void AddDrops()
    {
        Counter(
            "quicksilver.packets.dropped",
            static () => Each(static node => DropsOf(node, node.ReadCounts().PacketDrops)),
            "{packet}",
            "Packets dropped by the receiver, by the reason.");
        Counter(
            "quicksilver.discovery.dropped",
            static () => Each(static node => node.ReadCounts().DiscoveryDrops.Select(drop =>
                node.Measure(drop.Count, Tag("quicksilver.drop.reason", PacketDrop.Reasons[(int)drop.Reason])))),
            "{datagram}",
            "Datagrams of discovery that were refused, by the reason.");
    }

    private static IEnumerable<Measurement<long>> DropsOf(NodeMeter node, ImmutableArray<long> drops) =>
        PacketDrop.Reasons.Skip(1).Select((reason, i) =>
            node.Measure(i + 1 < drops.Length ? drops[i + 1] : 0, Tag("quicksilver.drop.reason", reason)));

    // One series for each way in which a request ends.
    private static void AddRequests()
    {
        Counter(
            "quicksilver.requests.failed",
            static () => Each(static node => node.ReadCounts().RequestFailures.Select((count, kind) =>
                node.Measure(count, Tag("error.type", RequestFailure.Kinds[kind])))),
            "{request}",
            "Requests that ended without an answer, by the reason.");
        Counter(
            "quicksilver.replies",
            static () => Each(static node => RepliesOf(node, node.ReadCounts())),
            "{request}",
            "Requests that came to responders of this node, by what became of them.");
    }

    private static Measurement<long>[] RepliesOf(NodeMeter node, NodeCounters counters) =>
    [
        node.Measure(counters.Replies, Tag("quicksilver.reply", "answered")),
        node.Measure(counters.RepliesFailed, Tag("quicksilver.reply", "failed")),
        node.Measure(counters.RepliesExpired, Tag("quicksilver.reply", "expired")),
    ];

    private static void AddTopics()
    {
        Counter(
            "quicksilver.topic.sent", () => Topics(static one => one.Published), "{message}", "Messages sent by this node, by topic.");
        Counter(
            "quicksilver.topic.consumed", () => Topics(static one => one.Delivered), "{message}", "Messages delivered here, by topic.");
        Counter(
            "quicksilver.topic.lost", () => Topics(static one => one.Lost), "{message}", "Messages that did not get here, by topic.");
        Gauge(
            "quicksilver.topic.waiting", () => Topics(static one => one.Waiting), "{message}", "Messages waiting for readers, by topic.");

        static IEnumerable<Measurement<long>> Topics(Func<TopicCounts, long> value) => Each(node =>
            node.ReadTopics().Select(one => node.Measure(value(one), Tag("messaging.destination.name", one.Name))));
    }

    // One series for each queue and for each limit.
    private static void AddShares()
    {
        Series(
            "quicksilver.core.queue.time",
            "Time of the core thread by queue.",
            "quicksilver.core.queue",
            [
                "inbound_control", "inbound_repairs", "inbound_data", "alarms", "requests",
                "outbound_control", "outbound_data", "disk", "other",
            ],
            static all => QueuesOf(all.CoreThread));
        Series(
            "quicksilver.send.limited.time",
            "Time for which streams were kept from sending, by what kept them.",
            "quicksilver.send.limit",
            ["turn", "window", "rate", "reader", "memory", "view", "socket"],
            static all => LimitsOf(all.SendLimits));
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
    private static void AddHistograms()
    {
        Samples("quicksilver.core.alarm.lateness", "{alarm}", "Alarms by how late they fired.", static all => [all.AlarmLateness]);
        Samples(
            "quicksilver.acknowledgement.duration",
            "{packet}",
            "Packets by the time until all held them.",
            static all => [all.TimeToAcknowledge]);
        Samples("quicksilver.token.duration", "{round}", "Rounds of tokens by their time.", static all => all.TokenRoundTrip);
        Samples("quicksilver.aggregation.duration", "{packet}", "Packets by the time to aggregate.", static all => all.TimeToAggregate);
    }

    private static void Counter<T>(string name, Func<IEnumerable<Measurement<T>>> observe, string unit, string description)
        where T : struct =>
        Guarded(() => Shared.CreateObservableCounter(name, observe, unit, description));

    private static void Gauge<T>(string name, Func<IEnumerable<Measurement<T>>> observe, string unit, string description)
        where T : struct =>
        Guarded(() => Shared.CreateObservableGauge(name, observe, unit, description));

    // Listeners are notified within. One that throws must not keep nodes from starting.
    private static T? Guarded<T>(Func<T> create)
        where T : class
    {
        try
        {
            return create();
        }
        catch (Exception)
        {
            ListenerFaults.Add();
            return null;
        }
    }

    private static IEnumerable<Measurement<T>> Each<T>(Func<NodeMeter, IEnumerable<Measurement<T>>> read)
        where T : struct =>
        _nodes.SelectMany(read);

    private static void Count(string name, string unit, string description, Func<NodeCounters, long> read) =>
        Counter(name, () => _nodes.Select(node => node.Measure(read(node.ReadCounts()))), unit, description);

    private static void Level(string name, string unit, string description, Func<NodeGauges, long> read) =>
        Gauge(name, () => _nodes.Select(node => node.Measure(read(node.ReadGauges()))), unit, description);

    private static void Time(string name, string description, Func<NodeCounters, TimeSpan> read) => Counter(
        name, () => _nodes.Select(node => node.Measure(read(node.ReadCounts()).TotalSeconds)), "s", description);

    private static void Age(string name, string description, Func<NodeMeter, TimeSpan> read) =>
        Gauge(name, () => _nodes.Select(node => node.Measure(read(node).TotalSeconds)), "s", description);

    private static void Series(string name, string description, string tag, string[] values, Func<NodeCounters, TimeSpan[]> read) =>
        Counter(
            name,
            () => Each(node => read(node.ReadAll()).Select((time, i) => node.Measure(time.TotalSeconds, Tag(tag, values[i])))),
            "s",
            description);

    private static void Samples(string name, string unit, string description, Func<NodeCounters, IReadOnlyList<TimeHistogram>> read) =>
        Counter(name, () => Each(node => Samples(node, read(node.ReadAll()))), unit, description);

    // Samples up to each limit, by level where there are several.
    private static IEnumerable<Measurement<long>> Samples(NodeMeter node, IReadOnlyList<TimeHistogram> levels)
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
                    var limit = Tag("le", LimitOf(i));
                    yield return levels.Count > 1
                        ? node.Measure(count, limit, Tag("quicksilver.ring.level", level))
                        : node.Measure(count, limit);
                }
            }
        }
    }

    private static KeyValuePair<string, object?> Tag(string name, object? value) => new(name, value);

    private static string LimitOf(int number) => number == TimeHistogram.Classes - 1
        ? "+Inf"
        : TimeHistogram.GetUpperBound(number).TotalSeconds.ToString(CultureInfo.InvariantCulture);
}
