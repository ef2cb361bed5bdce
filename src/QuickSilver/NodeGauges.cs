namespace QuickSilver;

/// <summary>
/// Current levels of a node, which rise and fall. Each value is read on its own, so the values may be of slightly different times. For
/// counters since the start, see <see cref="NodeCounters"/>.
/// </summary>
public sealed record NodeGauges
{
    /// <summary>Bytes that are queued between publishers and the core thread.</summary>
    public long PublishQueueBytes { get; init; }

    /// <summary>Bytes that were sent and not yet acknowledged by all members.</summary>
    public long UnacknowledgedBytes { get; init; }

    /// <summary>Regions that the open topics of this node reach. Each has one multicast group.</summary>
    public long Regions { get; init; }

    /// <summary>Senders whose multicast does not reach this node.</summary>
    public long UnheardSenders { get; init; }

    /// <summary>Nodes to which this node sends and that its multicast does not reach.</summary>
    public long DeafMembers { get; init; }

    /// <summary>
    /// Bytes of packet memory in use, in blocks of 64 KiB: received packets that are kept, and sent ones that not all members hold yet. See
    /// <see cref="NodeLimits.BufferBytes"/>.
    /// </summary>
    public long PacketMemoryBytes { get; init; }
}
