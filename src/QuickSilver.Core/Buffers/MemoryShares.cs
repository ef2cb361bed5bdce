namespace QuickSilver.Core.Buffers;

// How a node's packet memory is shared, in blocks, so that no holder can stop another permanently.
//
// Intuition: what is received must never wait for what was received before it, as only a repair or a token frees that; and what is
// sent must never wait for what is received, as a reader may never read. Application: each use has a guarantee, and what is beyond
// all guarantees goes to the first that asks. What goes wrong without: received packets behind a gap fill the memory, the repair
// of the gap cannot be received, and nothing is freed again.
//
// The sum of the guarantees is at most the whole:
//   Intake  runs between the socket and their handling: 64 that wait, and those in hand. Only the intake takes these.
//   Places  a packet each, for the next packet in order of each stream while memory is short (PacketPlaces).
//   Receive what receivers keep: for others until it is stable, behind a gap, or for a reader that waits.
//   Send    what senders pack, and keep until it is stable. The largest message needs all its blocks at once, so they are
//           no fewer than that (LeastBytes).
internal readonly struct MemoryShares(long blocks)
{
    private const long MostIntake = 256;
    private const long MostPlaces = 256;
    private const long MostSend = 544;

    public long Intake { get; } = Math.Min(blocks / 8, MostIntake);

    public long Places { get; } = Math.Min(blocks / 16, MostPlaces);

    public long Receive { get; } = blocks / 8;

    public long Send { get; } = Math.Min(blocks * 19 / 32, MostSend);

    /// <summary>The least memory of which senders' share has so many blocks.</summary>
    public static long LeastBytes(long toSend) => ((toSend * 32) + 18) / 19 * SlabPool.BlockBytes;

    /// <summary>The most that senders ever hold.</summary>
    public long MostToSend => blocks - Intake - Places - Receive;

    /// <summary>The most that receivers ever keep, places apart.</summary>
    public long MostToKeep => blocks - Intake - Places - Send;
}
