namespace QuickSilver;

/// <summary>
/// Counters of a node since it started: what a program shows, or acts on. They never fall. Each value is read on its own, so the values may
/// be of slightly different times. Everything else that a node counts is in the instruments of the meter <c>QuickSilver</c>. For current
/// levels, see <see cref="NodeGauges"/>.
/// </summary>
public sealed record NodeCounters
{
    /// <summary>Messages sent: accepted by the multicast layer, which has room for them.</summary>
    public long Published { get; init; }

    /// <summary>Payload bytes of the published messages.</summary>
    public long PublishedBytes { get; init; }

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

    /// <summary>Requests that this node's requesters made. Those refused because too many waited are not among them.</summary>
    public long Requests { get; init; }

    /// <summary>Requests of this node that ended with an answer.</summary>
    public long RequestsAnswered { get; init; }

    /// <summary>
    /// Requests of this node that ended without an answer: with an exception, cancelled, or refused because too many waited. The instrument
    /// <c>quicksilver.requests.failed</c> distinguishes them.
    /// </summary>
    public long RequestsFailed { get; init; }

    /// <summary>
    /// Configurations of the cluster that this node has applied: how often nodes or subscriptions that it knows changed.
    /// <see cref="NodeGauges.Configuration"/> is no count.
    /// </summary>
    public long ConfigurationsApplied { get; init; }

    /// <summary>Waits without progress that lasted longer than <see cref="QuickSilverOptions.StallWarning"/>.</summary>
    public long Stalls { get; init; }
}
