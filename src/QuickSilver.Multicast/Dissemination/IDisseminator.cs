using QuickSilver.Core.Buffers;
using QuickSilver.Core.Transport;

namespace QuickSilver.Multicast.Dissemination;

// Sends the packets of one node to the members of one view.
internal interface IDisseminator
{
    int MaxRunSegments { get; }

    /// <summary>Whether packets are sent to a group, so a member that the group does not reach may miss them.</summary>
    bool UsesGroup { get; }

    /// <summary>
    /// Whether the last call returned Busy after some members got the run. Sending the same run again continues with the others.
    /// </summary>
    bool IsUnderWay { get; }

    /// <summary>How many datagrams the last call of <see cref="Spread"/> has sent.</summary>
    int SpreadDatagrams { get; }

    /// <summary>
    /// Set by the stream: to be called when there is room again after a call returned Busy. A path that does not call it is tried again
    /// after a pause.
    /// </summary>
    Action OnRoom
    {
        set { }
    }

    SendOutcome Send(in DataRun run);

    /// <summary>
    /// Sends one packet to all members, even while a run is in progress. If the socket has no room for a member's copy, that member misses
    /// it.
    /// </summary>
    SendOutcome Spread(ReadOnlySpan<byte> packet);

    /// <summary>The stream is closed.</summary>
    void Close()
    {
    }
}

// A run of packets of one stream. All have one size, and the last may be smaller.
internal readonly ref struct DataRun(ReadOnlySpan<byte> bytes, int segmentBytes, Lease? lease, int offset)
{
    public ReadOnlySpan<byte> Bytes { get; } = bytes;

    public int SegmentBytes => segmentBytes;

    public int Packets => (Bytes.Length + segmentBytes - 1) / segmentBytes;

    /// <summary>
    /// The memory in which the packets are. A path that sends them later keeps it by a reference of its own. Null: the packets are valid
    /// during the call only.
    /// </summary>
    public Lease? Lease => lease;

    /// <summary>Where in the lease the packets begin.</summary>
    public int Offset => offset;
}
