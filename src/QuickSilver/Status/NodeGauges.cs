namespace QuickSilver;

/// <summary>
/// Current levels of a node, which rise and fall. Each value is read on its own, so the values may be of slightly different times. For
/// counters since the start, see <see cref="NodeCounters"/>.
/// </summary>
public sealed record NodeGauges
{
    /// <summary>Bytes that are queued between publishers and the core thread.</summary>
    public long PublishQueueBytes { get; init; }

    /// <summary>Messages that were accepted of publishers and wait to be sent.</summary>
    public long PublishQueueMessages { get; init; }

    /// <summary>Messages that were delivered to this node and wait for readers and consumers.</summary>
    public long WaitingForReaders { get; init; }

    /// <summary>Requests of this node that wait for an answer.</summary>
    public long RequestsWaiting { get; init; }

    /// <summary>Keys of the states that are open on this node.</summary>
    public long StateKeys { get; init; }

    /// <summary>Bytes that were sent and not yet acknowledged by all members.</summary>
    public long UnacknowledgedBytes { get; init; }

    /// <summary>Regions that the open topics of this node reach. Each has one multicast group.</summary>
    public long Regions { get; init; }

    /// <summary>Senders whose multicast does not reach this node.</summary>
    public long UnheardSenders { get; init; }

    /// <summary>Nodes to which this node sends and that its multicast does not reach.</summary>
    public long DeafMembers { get; init; }

    /// <summary>Nodes to which packets of <see cref="QuickSilverOptions.PacketBytes"/> do not pass, so they get smaller ones.</summary>
    public long SmallPaths { get; init; }

    /// <summary>The size in bytes of the largest packet that passes to all nodes to which this node has sent lately.</summary>
    public long SmallestPathBytes { get; init; }

    /// <summary>
    /// Bytes of packet memory in use, in blocks of 64 KiB: received packets that are kept, and sent ones that not all members hold yet. See
    /// <see cref="NodeLimits.BufferBytes"/>.
    /// </summary>
    public long PacketMemoryBytes { get; init; }

    /// <summary>Packets that were sent or wait to be sent, and that not all members are known to hold.</summary>
    public long PendingPackets { get; init; }

    /// <summary>Messages published a second, over the last half of a second to a second.</summary>
    public double PublishedPerSecond { get; init; }

    /// <summary>Messages delivered a second, over the same time.</summary>
    public double DeliveredPerSecond { get; init; }

    /// <summary>
    /// What kept this node's streams from sending most of all in that time; <see cref="SendLimit.None"/> if nothing waited.
    /// </summary>
    public SendLimit SendLimit { get; init; }

    /// <summary>
    /// The share of that time for which streams were kept by <see cref="SendLimit"/>: 1 for one stream all the time, more for several.
    /// </summary>
    public double SendLimitShare { get; init; }

    /// <summary>The number of the last configuration that this node has applied.</summary>
    public long Configuration { get; init; }

    /// <summary>How long ago that was; up to half a second more.</summary>
    public TimeSpan ConfigurationAge { get; init; }

    /// <summary>Open views of regions of which this node is a member.</summary>
    public long Views { get; init; }

    /// <summary>
    /// Of these, the views that newer ones have superseded. They stay open until all that was sent in them is delivered everywhere.
    /// </summary>
    public long SupersededViews { get; init; }

    /// <summary>For how long the oldest of those has been superseded, up to half a second more; zero if there is none.</summary>
    public TimeSpan OldestSupersededView { get; init; }
}
