using System.Collections.Immutable;
using QuickSilver.Core.Wire;

namespace QuickSilver;

/// <summary>
/// Counters of a node since it started. They never fall. Each value is read on its own, so the values may be of slightly different times.
/// For current levels, see <see cref="NodeGauges"/>.
/// </summary>
public sealed record NodeCounters
{
    /// <summary>
    /// Messages accepted of publishers: those that were sent, those that wait to be sent, and those that were dropped. While messages are
    /// sent, it may be a few too high or too low.
    /// </summary>
    public long Accepted { get; init; }

    /// <summary>Messages sent: accepted by the multicast layer, which has room for them.</summary>
    public long Published { get; init; }

    /// <summary>Payload bytes of the published messages.</summary>
    public long PublishedBytes { get; init; }

    /// <summary>Publish calls that waited for room.</summary>
    public long PublishWaits { get; init; }

    /// <summary>
    /// Messages that were accepted and dropped before they were sent, because their endpoint or the node ended. Each was reported in a log
    /// message with its topic (events 1660 to 1662).
    /// </summary>
    public long PublishDrops { get; init; }

    /// <summary>
    /// Messages that were sent and that not all members had acknowledged when the node ended: they may arrive or not. Each was reported in
    /// a log message with its topic (event 1660). 0 until then.
    /// </summary>
    public long Unacknowledged { get; init; }

    /// <summary>
    /// Messages passed to this node's endpoints: to their handlers, or into the buffers of their readers and consumers. A message for
    /// several endpoints counts once. <see cref="Unhandled"/> counts those that were dropped from a buffer.
    /// </summary>
    public long Delivered { get; init; }

    /// <summary>Payload bytes of the delivered messages.</summary>
    public long DeliveredBytes { get; init; }

    /// <summary>
    /// Messages that topics of this node did not get, for every <see cref="GapReason"/> but <see cref="GapReason.ReaderFull"/> and
    /// <see cref="GapReason.SubscriberEnded"/>, which <see cref="ReaderDrops"/> and <see cref="Unhandled"/> count. Each was reported in
    /// a gap notice. A message that several endpoints of a topic miss for one reason counts once.
    /// </summary>
    public long Gaps { get; init; }

    /// <summary>
    /// Messages that were dropped because the buffer of an endpoint was full. Each was reported in a gap notice with the reason
    /// <see cref="GapReason.ReaderFull"/>. A message counts for each endpoint that dropped it.
    /// </summary>
    public long ReaderDrops { get; init; }

    /// <summary>
    /// Messages that had come for endpoints of this node and were not handled, because the endpoints ended before. Each was reported in a
    /// gap notice. A message that ended in the buffer of a reader is among the <see cref="Delivered"/> ones too.
    /// </summary>
    public long Unhandled { get; init; }

    /// <summary>Exceptions thrown by handlers.</summary>
    public long HandlerFaults { get; init; }

    /// <summary>Exceptions thrown by attached feeds, and messages of feeds that were too large.</summary>
    public long FeedFaults { get; init; }

    /// <summary>
    /// How often an endpoint could not decode a payload. The messages are among <see cref="Gaps"/>; one that two endpoints cannot decode
    /// counts twice here.
    /// </summary>
    public long DecodeFaults { get; init; }

    /// <summary>
    /// Calls of handlers that blocked the core thread for more than a second. The log and <see cref="NodeStatus.Reason"/> name the handler.
    /// </summary>
    public long BlockingHandlers { get; init; }

    /// <summary>Calls of consumers that repeated one that had failed.</summary>
    public long ConsumerRetries { get; init; }

    /// <summary>Messages that consumers skipped, because they failed on them.</summary>
    public long ConsumerSkips { get; init; }

    /// <summary>Messages on which consumers failed and stopped.</summary>
    public long ConsumerFailures { get; init; }

    /// <summary>Requests that this node's requesters made. Those refused because too many waited are not among them.</summary>
    public long Requests { get; init; }

    /// <summary>Requests of this node that ended with an answer.</summary>
    public long RequestsAnswered { get; init; }

    /// <summary>
    /// Requests of this node that ended without an answer: with an exception, cancelled, or refused because too many waited. The meter
    /// distinguishes them.
    /// </summary>
    public long RequestsFailed { get; init; }

    /// <summary>Requests that this node's responders answered.</summary>
    public long Replies { get; init; }

    /// <summary>Requests on which this node's responders failed. Their requesters got the message of the exception.</summary>
    public long RepliesFailed { get; init; }

    /// <summary>Requests that this node's responders did not handle, because their deadline had passed while they waited.</summary>
    public long RepliesExpired { get; init; }

    /// <summary>How often this node gave all that it has of a state to another node.</summary>
    public long SnapshotsGiven { get; init; }

    /// <summary>How often this node got all that another node has of a state.</summary>
    public long SnapshotsTaken { get; init; }

    /// <summary>Exceptions thrown by the node's loggers. The log messages concerned are lost.</summary>
    public long LogFaults { get; init; }

    /// <summary>
    /// Exceptions thrown by listeners to meters and activities, in the whole process. Activities and samples concerned may be lost.
    /// </summary>
    public long ListenerFaults { get; init; }

    /// <summary>Packets sent, including repairs.</summary>
    public long PacketsSent { get; init; }

    /// <summary>Packets received.</summary>
    public long PacketsReceived { get; init; }

    /// <summary>Packets received and dropped because they were malformed, foreign, stale or duplicates.</summary>
    public long PacketsDropped { get; init; }

    /// <summary>Packets sent again, for this node or for others, and packets received by repair.</summary>
    public long Repairs { get; init; }

    /// <summary>Requests for lost packets that this node sent to other nodes.</summary>
    public long RepairRequests { get; init; }

    /// <summary>Acknowledgements of this node that reported to a sender which packets all members lack.</summary>
    public long CollectiveNaksSent { get; init; }

    /// <summary>
    /// Acknowledgements that reported to this node which of its packets all members lack. It sends those to all of them again.
    /// </summary>
    public long CollectiveNaksReceived { get; init; }

    /// <summary>Waits without progress that lasted longer than <see cref="QuickSilverOptions.StallWarning"/>.</summary>
    public long Stalls { get; init; }

    /// <summary>Datagrams that the kernel dropped because a receive buffer was full.</summary>
    public long KernelDrops { get; init; }

    /// <summary>
    /// Data packets sent as unicast copies to members that their group does not reach. They are not among the packets sent.
    /// </summary>
    public long CopiesSent { get; init; }

    /// <summary>
    /// Messages dropped because the membership service does not let their sender publish in their topic (<see cref="ITopicRights"/>).
    /// </summary>
    public long MessagesWithoutRight { get; init; }

    /// <summary>
    /// Sends that were refused because this node does not have the key of their view, as after its removal. They are repeated later if they
    /// still matter.
    /// </summary>
    public long SendsWithoutKey { get; init; }

    /// <summary>
    /// Packets sent once for several regions, to the address of a topic. They are among the packets sent.
    /// </summary>
    public long SharedPacketsSent { get; init; }

    /// <summary>How many packets more would have been sent without the addresses of topics.</summary>
    public long SendsSaved { get; init; }

    /// <summary>Packets for a region of this node that came over the address of a topic.</summary>
    public long SharedPacketsReceived { get; init; }

    /// <summary>
    /// Pauses of the core thread: steps that took longer than 50 ms, and times of more than 50 ms in which it did not run although
    /// something was due. The log names each (events 1021 to 1024).
    /// </summary>
    public long LongSteps { get; init; }

    /// <summary>The length of all pauses together.</summary>
    public TimeSpan PauseTime { get; init; }

    /// <summary>The length of the longest pause.</summary>
    public TimeSpan LongestPause { get; init; }

    /// <summary>
    /// Pauses in which the system did not run the process: it was suspended, its machine was stopped, or the processors were in use.
    /// </summary>
    public long PausesNotRunning { get; init; }

    /// <summary>Pauses of which the garbage collector took more than half.</summary>
    public long PausesOfCollector { get; init; }

    /// <summary>Pauses of which the JIT compiler took more than half. They do not recur.</summary>
    public long PausesOfCompiler { get; init; }

    /// <summary>Pauses in which a step took long by itself, usually because a handler blocked the core thread.</summary>
    public long PausesOfHandlers { get; init; }

    /// <summary>Pauses that other nodes reported to this one. The log names the nodes (event 1421).</summary>
    public long PausesTold { get; init; }

    /// <summary>
    /// How often the core thread had more work of one kind than its share of a turn allows (50 ms for received packets, 5 ms for alarms and
    /// for requests each), so that the rest waited for the next turn.
    /// </summary>
    public long QuantaExceeded { get; init; }

    /// <summary>Alarms that fired more than 10 ms late. Late alarms delay tokens, and so acknowledgements.</summary>
    public long LateAlarms { get; init; }

    /// <summary>The time for which the garbage collector stopped the process.</summary>
    public TimeSpan CollectorPauseTime { get; init; }

    /// <summary>How often the thread pool of the process started no work for 3 s or more.</summary>
    public long PoolStarvations { get; init; }

    /// <summary>The time that the core thread spent on received packets, and so in handlers.</summary>
    public TimeSpan ReceiveTime { get; init; }

    /// <summary>The time that the core thread spent on alarms: tokens, acknowledgements, repairs.</summary>
    public TimeSpan AlarmTime { get; init; }

    /// <summary>
    /// The time that the core thread spent on requests of other threads, most of them publishes, and on what it put off to the end of a
    /// turn, most of it sending.
    /// </summary>
    public TimeSpan RequestTime { get; init; }

    /// <summary>
    /// The time that the core thread spent on each of its queues. <see cref="ReceiveTime"/>, <see cref="AlarmTime"/> and
    /// <see cref="RequestTime"/> are sums of these.
    /// </summary>
    public CoreThreadTimes CoreThread { get; init; } = new();

    /// <summary>How late alarms fired. A late alarm delays a token, and so acknowledgements.</summary>
    public TimeHistogram AlarmLateness { get; init; } = TimeHistogram.Empty;

    /// <summary>
    /// The time of a token's way around a ring, by the level of the ring; of the rings that this node leads. The last of the four levels
    /// includes higher ones. A level that this node has not led is empty.
    /// </summary>
    public ImmutableArray<TimeHistogram> TokenRoundTrip { get; init; } = NoLevels;

    /// <summary>
    /// From the arrival of a packet at this node, which leads a ring of level 0, until the result of its ring of each level covers the
    /// packet, as above. At the highest level of a region, this is how long the members need to find out that all of them hold a packet.
    /// One packet of a region at a time is measured.
    /// </summary>
    public ImmutableArray<TimeHistogram> TimeToAggregate { get; init; } = NoLevels;

    /// <summary>
    /// From the sending of a packet until this node knows that all members hold it. One packet of a stream at a time is measured.
    /// </summary>
    public TimeHistogram TimeToAcknowledge { get; init; } = TimeHistogram.Empty;

    /// <summary>For how long this node's streams were kept from sending, and by what.</summary>
    public SendLimitTimes SendLimits { get; init; } = new();

    /// <summary>Configurations of the cluster that this node has applied. <see cref="NodeGauges.Configuration"/> is no count.</summary>
    internal long ConfigurationsApplied { get; init; }

    /// <summary>The parts of <see cref="PacketsDropped"/>, by the number of the reason; empty if nothing was dropped.</summary>
    internal ImmutableArray<long> PacketDrops { get; init; } = [];

    /// <summary>Datagrams of discovery that were refused; empty if nothing was read.</summary>
    internal ImmutableArray<(DropReason Reason, long Count)> DiscoveryDrops { get; init; } = [];

    /// <summary>The parts of <see cref="RequestsFailed"/>, in the order of their kinds; empty if nothing was read.</summary>
    internal ImmutableArray<long> RequestFailures { get; init; } = [];

    internal static ImmutableArray<TimeHistogram> NoLevels { get; } =
        [TimeHistogram.Empty, TimeHistogram.Empty, TimeHistogram.Empty, TimeHistogram.Empty];
}
