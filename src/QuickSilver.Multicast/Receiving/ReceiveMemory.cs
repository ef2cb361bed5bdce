using QuickSilver.Core.Buffers;

namespace QuickSilver.Multicast.Receiving;

// What all inbound streams of a node share of packet memory. While it is short, a stream takes only the next packet in order, into a
// place of its own: that one moves its senders' streams on, and so frees memory in the end. All others are dropped, and asked for
// again when their turn comes: the sender keeps them until all members have them.
internal sealed class ReceiveMemory(SlabPool pool, int packetBytes)
{
    // Asked for together: more would come before it is known whether there is room for them.
    private const int MostAtOnce = 16;

    private PacketPlaces? _places;

    private PacketPlaces Places => _places ??= new PacketPlaces(pool, packetBytes);

    public bool IsShort => pool.IsShort;

    /// <summary>Streams of which something is kept.</summary>
    public int HoldingStreams { get; set; }

    /// <summary>What one stream may keep so that all that keep something have room together.</summary>
    public long BytesPerStream => pool.Shares.MostToKeep * SlabPool.BlockBytes / Math.Max(1, HoldingStreams);

    /// <summary>How many packets more a stream may take while memory is short.</summary>
    /// <param name="placed">Its packets that are in places.</param>
    public int MayPlace(int placed) => Places.Allows(Math.Max(placed, 1)) ? MostAtOnce : Places.Allows(placed) ? 1 : 0;

    /// <summary>A copy of the packet with one claim on it, or null.</summary>
    public Lease? TryPlace(ReadOnlySpan<byte> packet, int placed)
    {
        // Another cluster member may have larger packets than this node.
        var place = packet.Length <= packetBytes ? Places.TryTake(placed) : null;
        if (place is not null)
        {
            packet.CopyTo(place.Span);
        }

        return place;
    }
}
