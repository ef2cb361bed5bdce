using System.Collections.Immutable;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Requests;
using QuickSilver.Core.Wire;
using QuickSilver.Membership.Diagnostics;
using QuickSilver.Multicast.Nodes;

namespace QuickSilver.Diagnostics.Figures;

// The catalogue of what a node counts and measures. The instruments of the meter, NodeCounters, NodeGauges, the reports of qsm and the
// table in docs/watching.md come from it, or are compared with it.
internal static class NodeFigures
{
    // Before the figures, which add themselves.
    private static readonly List<NodeFigure> Made = [];

    // Publishers.
    public static readonly NodeFigure<long> Accepted = Count(
        "quicksilver.publish.accepted", "{message}", "Messages accepted of publishers: sent, waiting to be sent, or dropped.",
        static node => node.ReadAccepted());
    public static readonly NodeFigure<long> Published = Count(
        "messaging.client.sent.messages", "{message}", "Messages accepted by the multicast layer.",
        static node => Volatile.Read(ref node.Cells.Published));
    public static readonly NodeFigure<long> PublishWaiting = Level(
        "quicksilver.publish.waiting", "{message}", "Accepted messages that wait to be sent.",
        static node => node.QueuedMessages);
    public static readonly NodeFigure<long> PublishDrops = Count(
        "quicksilver.publish.drops", "{message}",
        "Accepted messages that were dropped before they were sent, because their endpoint or the node ended.",
        static node => Volatile.Read(ref node.Cells.PublishDrops));
    public static readonly NodeFigure<long> Unacknowledged = Count(
        "quicksilver.publish.unacknowledged", "{message}",
        "Messages that were sent and not acknowledged by all members when the node ended.",
        static node => Volatile.Read(ref node.Cells.Unacknowledged));
    public static readonly NodeFigure<long> PublishedBytes = Count(
        "quicksilver.published.bytes", "By", "Payload bytes accepted by the multicast layer.",
        static node => Volatile.Read(ref node.Cells.PublishedBytes));
    public static readonly NodeFigure<long> PublishWaits = Count(
        "quicksilver.publish.waits", "{call}", "Calls of publish that waited for room.",
        static node => Volatile.Read(ref node.Cells.PublishWaits));
    public static readonly NodeFigure<long> PublishQueue = Level(
        "quicksilver.publish.queue", "By", "Bytes between publishers and the core thread.",
        static node => node.QueuedBytes);
    public static readonly NodeFigure PublishToStable = Recorded(
        "quicksilver.publish.stable.duration",
        "From a message's acceptance until all subscribers hold it; one message of a topic at a time.");
    public static readonly NodeFigure<long> UnacknowledgedBytes = Level(
        "quicksilver.unacknowledged", "By", "Bytes sent and not yet held by all.",
        static node => Volatile.Read(ref node.Retention.Bytes));

    // Subscribers and their endpoints.
    public static readonly NodeFigure<long> Delivered = Count(
        "messaging.client.consumed.messages", "{message}", "Messages handed to this node's topics.",
        static node => Volatile.Read(ref node.Cells.Delivered));
    public static readonly NodeFigure<long> DeliveredBytes = Count(
        "quicksilver.delivered.bytes", "By", "Payload bytes handed to this node's topics.",
        static node => Volatile.Read(ref node.Cells.DeliveredBytes));
    public static readonly NodeFigure<long> Gaps = Count(
        "quicksilver.gaps", "{message}",
        "Messages that topics of this node did not get, for every reason of a gap notice but ReaderFull and "
        + "SubscriberEnded.",
        static node => Volatile.Read(ref node.Cells.Gaps));
    public static readonly NodeFigure<long> Unhandled = Count(
        "quicksilver.unhandled", "{message}", "Messages that had come and were not handled, because their endpoint ended before.",
        static node => Volatile.Read(ref node.Cells.Unhandled));
    public static readonly NodeFigure<long> ReaderDrops = Count(
        "quicksilver.reader.drops", "{message}",
        "Messages dropped because an endpoint's buffer was full (ReaderFull); they are not among the gaps.",
        static node => Volatile.Read(ref node.Cells.ReaderDrops));
    public static readonly NodeFigure<long> HandlerFaults = Count(
        "quicksilver.handler.faults", "{exception}", "Exceptions thrown by handlers.",
        static node => Volatile.Read(ref node.Cells.HandlerFaults));
    public static readonly NodeFigure<long> FeedFaults = Count(
        "quicksilver.feed.faults", "{exception}", "Exceptions thrown by attached feeds, and messages of feeds that were too large.",
        static node => Volatile.Read(ref node.Cells.FeedFaults));
    public static readonly NodeFigure<long> DecodeFaults = Count(
        "quicksilver.decode.faults", "{message}", "Payloads that an endpoint could not decode; the messages are among the gaps too.",
        static node => Volatile.Read(ref node.Cells.DecodeFaults));
    public static readonly NodeFigure<long> BlockingHandlers = Count(
        "quicksilver.handler.blocking", "{call}", "Calls of handlers that blocked the core thread for more than a second.",
        static node => Volatile.Read(ref node.Cells.BlockingHandlers));
    public static readonly NodeFigure<long> ConsumerRetries = Count(
        "quicksilver.consumer.retries", "{call}", "Calls of consumers that repeated a failed one.",
        static node => Volatile.Read(ref node.Cells.ConsumerRetries));
    public static readonly NodeFigure<long> ConsumerSkips = Count(
        "quicksilver.consumer.skips", "{message}", "Messages that consumers skipped after their last attempt.",
        static node => Volatile.Read(ref node.Cells.ConsumerSkips));
    public static readonly NodeFigure<long> ConsumerFailures = Count(
        "quicksilver.consumer.failures", "{message}", "Messages on which consumers stopped.",
        static node => Volatile.Read(ref node.Cells.ConsumerFailures));
    public static readonly NodeFigure<long> ReaderWaiting = Level(
        "quicksilver.reader.waiting", "{message}", "Messages delivered to this node that wait for readers and consumers.",
        static node => node.ReaderWaiting);

    // Requests and states.
    public static readonly NodeFigure<long> Requests = Count(
        "quicksilver.requests", "{request}", "Requests that this node made.", static node => Volatile.Read(ref node.Cells.Requests));
    public static readonly NodeFigure<long> RequestsAnswered = Count(
        "quicksilver.requests.answered", "{request}", "Requests that ended with an answer.",
        static node => Volatile.Read(ref node.Cells.RequestsAnswered));
    public static readonly FigureByTag<long> RequestsFailed = Counts(
        "quicksilver.requests.failed", "{request}", "error.type",
        "Requests that ended without an answer: no_responder, timeout, responder_failed, responder_left, too_many, "
        + "cancelled, other.",
        static node => RequestFailuresOf(node.Cells));
    public static readonly NodeFigure<long> RequestsWaiting = Level(
        "quicksilver.requests.waiting", "{request}", "Requests that wait for an answer.", static node => node.RequestsWaiting);
    public static readonly FigureByTag<long> Replies = Counts(
        "quicksilver.replies", "{request}", "quicksilver.reply",
        "Requests that came to responders of this node: answered, failed (the handler threw, or the request cannot be "
        + "decoded), expired (the deadline had passed while they waited).",
        static node => RepliesOf(node.Cells));
    public static readonly NodeFigure<long> StateKeys = Level(
        "quicksilver.state.keys", "{key}", "Keys of the states that are open on this node.", static node => node.Cells.StateKeys.Sum);
    public static readonly NodeFigure<long> SnapshotsGiven = Count(
        "quicksilver.state.snapshots.given", "{snapshot}", "How often this node gave all of a state to another.",
        static node => Volatile.Read(ref node.Cells.SnapshotsGiven));
    public static readonly NodeFigure<long> SnapshotsTaken = Count(
        "quicksilver.state.snapshots.taken", "{snapshot}", "How often this node got all of a state from another.",
        static node => Volatile.Read(ref node.Cells.SnapshotsTaken));

    // Topics by name.
    public static readonly FigureByTag<long> TopicSent = Counts(
        "quicksilver.topic.sent", "{message}", "messaging.destination.name",
        "Messages of this node that were sent, by topic; only with MeteredTopics.",
        static node => TopicsOf(node, static topic => topic.Published));
    public static readonly FigureByTag<long> TopicConsumed = Counts(
        "quicksilver.topic.consumed", "{message}", "messaging.destination.name",
        "Messages handed to this node's endpoints of the topic; only with MeteredTopics.",
        static node => TopicsOf(node, static topic => topic.Delivered));
    public static readonly FigureByTag<long> TopicLost = Counts(
        "quicksilver.topic.lost", "{message}", "messaging.destination.name",
        "Messages of the topic that did not get here, counted as quicksilver.gaps; only with MeteredTopics.",
        static node => TopicsOf(node, static topic => topic.Lost));
    public static readonly FigureByTag<long> TopicWaiting = Levels(
        "quicksilver.topic.waiting", "{message}", "messaging.destination.name",
        "Messages that wait for readers of the topic; only with MeteredTopics.",
        static node => TopicsOf(node, static topic => topic.Waiting));

    // Loggers and listeners of the application.
    public static readonly NodeFigure<long> LogFaults = Count(
        "quicksilver.log.faults", "{exception}", "Exceptions thrown by the node's loggers.", static node => node.LogFaults);
    public static readonly NodeFigure<long> ListenerFaults = Count(
        "quicksilver.listener.faults", "{exception}", "Exceptions thrown by listeners to meters and activities, in the whole process.",
        static _ => Core.Diagnostics.ListenerFaults.Count);

    // Packets and their losses.
    public static readonly NodeFigure<long> PacketsSent = Count(
        "quicksilver.packets.sent", "{packet}", "Packets sent, repairs included.", static node => node.Multicast.PacketsSent);
    public static readonly NodeFigure<long> PacketsReceived = Count(
        "quicksilver.packets.received", "{packet}", "Packets received.", static node => node.Multicast.PacketsReceived);
    public static readonly FigureByTag<long> PacketsDropped = Counts(
        "quicksilver.packets.dropped", "{packet}", "quicksilver.drop.reason",
        "Packets that the receiver dropped: malformed, foreign_cluster, not_authentic, replayed, stale_view, duplicate "
        + "and others.",
        static node => PacketDropsOf(node.Multicast));
    public static readonly FigureByTag<long> DiscoveryDropped = Counts(
        "quicksilver.discovery.dropped", "{datagram}", "quicksilver.drop.reason",
        "Datagrams of discovery that this node refused: foreign_cluster also counts what is none, unknown_version "
        + "those of this cluster in another version, not_authentic those that no secret of this node authenticates.",
        static node => DiscoveryDropsOf(node.Membership));
    public static readonly NodeFigure<long> MessagesWithoutRight = Count(
        "quicksilver.rights.drops", "{message}", "Messages of senders that the service does not let publish in their topic.",
        static node => node.Multicast.MessagesWithoutRight);
    public static readonly NodeFigure<long> SendsWithoutKey = Count(
        "quicksilver.keys.missing", "{send}", "Sends that were refused because this node lacks the key of their view.",
        static node => node.Multicast.Keyless);
    public static readonly NodeFigure<long> Repairs = Count(
        "quicksilver.repairs", "{packet}", "Packets sent again, for this node or for others, and packets received by repair.",
        static node => node.Multicast.RepairsSent + node.Multicast.RepairsReceived);
    public static readonly NodeFigure<long> RepairRequests = Count(
        "quicksilver.repair.requests", "{request}", "Requests for lost packets that this node sent.",
        static node => node.Multicast.PullsSent);
    public static readonly NodeFigure<long> CollectiveNaksSent = Count(
        "quicksilver.repair.naks.sent", "{nak}", "Acknowledgements of this node that reported to a sender what all members lack.",
        static node => node.Multicast.CollectiveNaksSent);
    public static readonly NodeFigure<long> CollectiveNaksReceived = Count(
        "quicksilver.repair.naks.received", "{nak}", "Acknowledgements that reported to this node which of its packets all members lack.",
        static node => node.Multicast.CollectiveNaksReceived);
    public static readonly NodeFigure<long> KernelDrops = Count(
        "quicksilver.kernel.drops", "{train}",
        "What the kernel dropped because this node's receive buffers were full: a train of up to 64 packets that it "
        + "had joined counts as 1, and so does a single packet. quicksilver.repairs shows how many packets were missing.",
        static node => node.Multicast.KernelDrops);

    // Ways of packets.
    public static readonly NodeFigure<long> SharedPacketsSent = Count(
        "quicksilver.shared.sent", "{packet}",
        "Packets sent once for several regions, to the address of a topic; they are among the packets sent.",
        static node => node.Multicast.SharedPacketsSent);
    public static readonly NodeFigure<long> SendsSaved = Count(
        "quicksilver.shared.saved", "{packet}", "How many packets more would have been sent without the addresses of topics.",
        static node => node.Multicast.SendsSaved);
    public static readonly NodeFigure<long> SharedPacketsReceived = Count(
        "quicksilver.shared.received", "{packet}", "Packets for a region of this node that came over the address of a topic.",
        static node => node.Multicast.SharedPacketsReceived);
    public static readonly NodeFigure<long> CopiesSent = Count(
        "quicksilver.copies", "{packet}", "Packets sent as copies to members that do not receive multicast.",
        static node => node.Multicast.CopiesSent);
    public static readonly NodeFigure<long> UnheardSenders = Level(
        "quicksilver.unheard", "{node}", "Senders whose multicast this node does not receive.",
        static node => node.Multicast.UnheardSenders);
    public static readonly NodeFigure<long> DeafMembers = Level(
        "quicksilver.deaf", "{node}", "Nodes that do not receive this node's multicast.", static node => node.Multicast.DeafMembers);
    public static readonly NodeFigure<long> SmallPaths = Level(
        "quicksilver.paths.small", "{node}", "Nodes to which packets of PacketBytes do not pass, so that they get smaller ones.",
        static node => node.Multicast.SmallPaths);
    public static readonly NodeFigure<long> SmallestPathBytes = Level(
        "quicksilver.path.bytes", "By", "The largest packet that passes to all nodes to which this node has sent lately.",
        static node => node.SmallestPathBytes);

    // Views and what waits.
    public static readonly NodeFigure<long> Regions = Level(
        "quicksilver.regions", "{region}", "Regions that this node's topics reach.", static node => node.Multicast.Regions);
    public static readonly NodeFigure<long> Stalls = Count(
        "quicksilver.stalls", "{stall}", "Waits without progress that lasted longer than StallWarning.",
        static node => node.Stalls);
    public static readonly NodeFigure<long> PendingPackets = Level(
        "quicksilver.pending", "{packet}", "Packets packed or sent that not all members are known to hold.",
        static node => Volatile.Read(ref node.Retention.Packets));
    public static readonly FigureByTag<TimeSpan> SendLimits = Times(
        "quicksilver.send.limited.time", "quicksilver.send.limit",
        "Time for which streams were kept from sending, by what kept them; the sum over all streams, and nothing for "
        + "idle ones.",
        static node => SendLimitsOf(node.Multicast));
    public static readonly NodeFigure<ImmutableArray<TimeHistogram>> TimeToAcknowledge = Samples(
        "quicksilver.acknowledgement.duration", "{packet}",
        "Packets by the time from sending until this node knew that all hold them; one packet of a stream at a time.",
        static node => [TimeHistogram.Of(node.Multicast.TimesToAcknowledge)]);
    public static readonly NodeFigure<ImmutableArray<TimeHistogram>> TokenRoundTrip = SamplesByLevel(
        "quicksilver.token.duration", "{round}", "Rounds of the rings that this node leads, by the time of a token's way around.",
        static node => LevelsOf(node.Multicast.TokenRoundTrips));
    public static readonly NodeFigure<ImmutableArray<TimeHistogram>> TimeToAggregate = SamplesByLevel(
        "quicksilver.aggregation.duration", "{packet}",
        "Packets by the time from their arrival at this node, which leads a ring of level 0, until its ring of each "
        + "level knew that all members hold them; one packet of a region at a time.",
        static node => LevelsOf(node.Multicast.TimesToAggregate));
    public static readonly NodeFigure<long> Views = Level(
        "quicksilver.views", "{view}", "Open views of regions of which this node is a member.",
        static node => node.Multicast.OpenViews);
    public static readonly NodeFigure<long> SupersededViews = Level(
        "quicksilver.views.superseded", "{view}", "Open views that newer ones have superseded.",
        static node => node.Multicast.SupersededViews);
    public static readonly NodeFigure<TimeSpan> OldestSupersededView = Age(
        "quicksilver.views.superseded.age", "For how long the oldest superseded view has been superseded; 0 if there is none.",
        static node => TimeSpan.FromTicks(node.Multicast.OldestSupersededTicks));
    public static readonly NodeFigure<long> ConfigurationsApplied = Count(
        "quicksilver.configurations", "{configuration}", "Configurations of the cluster that this node has applied.",
        static node => node.Multicast.ConfigurationsApplied);
    public static readonly NodeFigure<TimeSpan> ConfigurationAge = Age(
        "quicksilver.configuration.age", "Time since this node applied the last configuration.",
        static node => TimeSpan.FromTicks(node.Multicast.ConfigurationAgeTicks));
    public static readonly NodeFigure<long> PacketMemory = Level(
        "quicksilver.packet.memory", "By", "Packet memory in use, in blocks of 64 KiB.", static node => node.PacketMemoryBytes);

    // The core thread.
    public static readonly NodeFigure<long> LongSteps = Count(
        "quicksilver.core.long_steps", "{step}",
        "Pauses: steps of the core thread longer than 50 ms, and times as long in which it did not run although "
        + "something was due.",
        static node => Volatile.Read(ref node.Core.LongSteps));
    public static readonly NodeFigure<TimeSpan> PauseTime = Time(
        "quicksilver.core.pause.time", "Length of the pauses of the core thread together.",
        static node => TimeSpan.FromTicks(Volatile.Read(ref node.Core.PauseTicks)));
    public static readonly NodeFigure<TimeSpan> LongestPause = Age(
        "quicksilver.core.pause.longest", "The longest pause since the start.",
        static node => TimeSpan.FromTicks(Volatile.Read(ref node.Core.LongestPauseTicks)));
    public static readonly NodeFigure<long> PausesNotRunning = Count(
        "quicksilver.core.pauses.not_running", "{pause}", "Pauses in which the system did not run the process.",
        static node => Volatile.Read(ref node.Core.PausesNotRunning));
    public static readonly NodeFigure<long> PausesOfCollector = Count(
        "quicksilver.core.pauses.collector", "{pause}", "Pauses of which the collector took more than half.",
        static node => Volatile.Read(ref node.Core.PausesOfCollector));
    public static readonly NodeFigure<long> PausesOfCompiler = Count(
        "quicksilver.core.pauses.compiler", "{pause}", "Pauses of which the JIT compiler took more than half.",
        static node => Volatile.Read(ref node.Core.PausesOfCompiler));
    public static readonly NodeFigure<long> PausesOfHandlers = Count(
        "quicksilver.core.pauses.handlers", "{pause}", "Steps that took long by themselves.",
        static node => Volatile.Read(ref node.Core.PausesOfHandlers));
    public static readonly NodeFigure<long> PausesReported = Count(
        "quicksilver.pauses.reported", "{pause}", "Pauses that other nodes reported to this one.",
        static node => node.Multicast.PausesReported);
    public static readonly NodeFigure<long> QuantaExceeded = Count(
        "quicksilver.core.quanta.exceeded", "{turn}", "How often the core thread had more work of one kind than its share of a turn.",
        static node => Volatile.Read(ref node.Core.QuantaExceeded));
    public static readonly FigureByTag<TimeSpan> CoreQueues = Times(
        "quicksilver.core.queue.time", "quicksilver.core.queue",
        "Time of the core thread by queue: inbound_control, inbound_repairs, inbound_data, alarms, requests, "
        + "outbound_control, outbound_data, disk, other.",
        static node => QueuesOf(node.Core));
    public static readonly NodeFigure<ImmutableArray<TimeHistogram>> AlarmLateness = Samples(
        "quicksilver.core.alarm.lateness", "{alarm}", "Alarms by how late they fired.",
        static node => [TimeHistogram.Of(node.Core.AlarmLateness)]);
    public static readonly NodeFigure<long> LateAlarms = Count(
        "quicksilver.core.alarms.late", "{alarm}", "Alarms that fired more than 10 ms late.",
        static node => Volatile.Read(ref node.Core.LateAlarms));
    public static readonly NodeFigure<long> PoolStarvations = Count(
        "quicksilver.pool.starvations", "{starvation}", "Times in which the thread pool of the process started no work for 3 s or more.",
        static node => node.PoolStarvations);
    public static readonly NodeFigure<TimeSpan> CollectorPauseTime = Time(
        "quicksilver.core.gc.pause.time", "Time for which the collector stopped the process.", static node => node.Core.GcPauseTime);
    public static readonly NodeFigure<TimeSpan> ReceiveTime = Time(
        "quicksilver.core.receive.time", "Time of the core thread for received packets, handlers included.",
        static node => TimeSpan.FromTicks(Volatile.Read(ref node.Core.InputTicks)));
    public static readonly NodeFigure<TimeSpan> AlarmTime = Time(
        "quicksilver.core.alarm.time", "Time of the core thread for alarms.",
        static node => TimeSpan.FromTicks(Volatile.Read(ref node.Core.AlarmTicks)));
    public static readonly NodeFigure<TimeSpan> RequestTime = Time(
        "quicksilver.core.request.time", "Time of the core thread for requests of other threads, most of them publishes, and for sending.",
        static node => TimeSpan.FromTicks(
            Volatile.Read(ref node.Core.RequestTicks) + Volatile.Read(ref node.Core.OutputTicks)));

    /// <summary>All figures, in the order above.</summary>
    public static IReadOnlyList<NodeFigure> All => Made;

    private static NodeFigure<long> Count(string name, string unit, string sentence, Func<IFigureSource, long> read) =>
        Add(new NodeFigure<long>(name, FigureKind.Count, unit, sentence, read));

    private static NodeFigure<long> Level(string name, string unit, string sentence, Func<IFigureSource, long> read) =>
        Add(new NodeFigure<long>(name, FigureKind.Level, unit, sentence, read));

    private static NodeFigure<TimeSpan> Time(string name, string sentence, Func<IFigureSource, TimeSpan> read) =>
        Add(new NodeFigure<TimeSpan>(name, FigureKind.Count, "s", sentence, read));

    private static NodeFigure<TimeSpan> Age(string name, string sentence, Func<IFigureSource, TimeSpan> read) =>
        Add(new NodeFigure<TimeSpan>(name, FigureKind.Level, "s", sentence, read));

    private static RecordedFigure Recorded(string name, string sentence) => Add(new RecordedFigure(name, "s", sentence));

    private static FigureByTag<long> Counts(
        string name, string unit, string tag, string sentence, Func<IFigureSource, IEnumerable<(string Tag, long Value)>> read) =>
        Add(new FigureByTag<long>(name, FigureKind.Count, unit, sentence, read) { Tags = [tag] });

    private static FigureByTag<long> Levels(
        string name, string unit, string tag, string sentence, Func<IFigureSource, IEnumerable<(string Tag, long Value)>> read) =>
        Add(new FigureByTag<long>(name, FigureKind.Level, unit, sentence, read) { Tags = [tag] });

    private static FigureByTag<TimeSpan> Times(
        string name, string tag, string sentence, Func<IFigureSource, IEnumerable<(string Tag, TimeSpan Value)>> read) =>
        Add(new FigureByTag<TimeSpan>(name, FigureKind.Count, "s", sentence, read) { Tags = [tag] });

    private static NodeFigure<ImmutableArray<TimeHistogram>> Samples(
        string name, string unit, string sentence, Func<IFigureSource, ImmutableArray<TimeHistogram>> read) =>
        Add(new NodeFigure<ImmutableArray<TimeHistogram>>(name, FigureKind.Count, unit, sentence, read) { Tags = ["le"] });

    private static NodeFigure<ImmutableArray<TimeHistogram>> SamplesByLevel(
        string name, string unit, string sentence, Func<IFigureSource, ImmutableArray<TimeHistogram>> read) =>
        Add(new NodeFigure<ImmutableArray<TimeHistogram>>(name, FigureKind.Count, unit, sentence, read)
        {
            Tags = ["le", "quicksilver.ring.level"],
        });

    private static T Add<T>(T figure)
        where T : NodeFigure
    {
        Made.Add(figure);
        return figure;
    }

    private static IEnumerable<(string Tag, long Value)> RequestFailuresOf(NodeCounterCells cells) =>
        RequestFailure.Kinds.Select((kind, i) => (kind, Volatile.Read(ref cells.RequestFailures[i])));

    private static (string Tag, long Value)[] RepliesOf(NodeCounterCells cells) =>
    [
        ("answered", Volatile.Read(ref cells.Replies)),
        ("failed", Volatile.Read(ref cells.RepliesFailed)),
        ("expired", Volatile.Read(ref cells.RepliesExpired)),
    ];

    private static IEnumerable<(string Tag, long Value)> TopicsOf(IFigureSource node, Func<TopicCounts, long> value) =>
        node.ReadTopics().Select(topic => (topic.Name, value(topic)));

    // The first reason is none.
    private static IEnumerable<(string Tag, long Value)> PacketDropsOf(MulticastCounters counters) =>
        Enum.GetValues<DropReason>().Skip(1).Select(reason => (PacketDrop.Reasons[(int)reason], counters.Dropped(reason)));

    private static IEnumerable<(string Tag, long Value)> DiscoveryDropsOf(ClientCounters counters) =>
        counters.DiscoveryDrops.Select(static drop => (PacketDrop.Reasons[(int)drop.Reason], drop.Count));

    private static IEnumerable<(string Tag, TimeSpan Value)> SendLimitsOf(MulticastCounters counters) =>
        Enum.GetValues<StreamLimit>().Where(static limit => limit != StreamLimit.Idle).Select(limit =>
            (limit.ToString().ToLowerInvariant(), TimeSpan.FromTicks(counters.LimitsIfAny?.TicksOf(limit) ?? 0)));

    private static (string Tag, TimeSpan Value)[] QueuesOf(CoreCounters core)
    {
        return
        [
            ("inbound_control", Queue(WorkClass.InboundControl)),
            ("inbound_repairs", Queue(WorkClass.InboundRepair)),
            ("inbound_data", Queue(WorkClass.InboundData)),
            ("alarms", TimeSpan.FromTicks(Volatile.Read(ref core.AlarmTicks))),
            ("requests", TimeSpan.FromTicks(Volatile.Read(ref core.RequestTicks))),
            ("outbound_control", Queue(WorkClass.OutboundControl)),
            ("outbound_data", Queue(WorkClass.OutboundData)),
            ("disk", Queue(WorkClass.Disk)),
            ("other", Queue(WorkClass.Other)),
        ];

        TimeSpan Queue(WorkClass workClass) => TimeSpan.FromTicks(Volatile.Read(ref core.QueueTicks[(int)workClass]));
    }

    private static ImmutableArray<TimeHistogram> LevelsOf(RingTimes times) =>
        [.. Enumerable.Range(0, RingTimes.Levels).Select(level => TimeHistogram.Of(times.At(level)))];
}
