using QuickSilver.Core.Buffers;
using QuickSilver.Core.Environment;

namespace QuickSilver.Multicast.Receiving.Windows;

// The packet memory that all inbound streams of a node share. While it is short, a stream accepts only the next packet in order, and
// copies it into a place: that packet lets its stream continue, which frees memory in the end. All other packets are dropped, and
// requested again later: the sender keeps them until all members hold them.
internal sealed class ReceiveMemory(SlabPool pool, int packetBytes, NodeHeap? heap = null)
{
    // How many packets are requested together. More would come before it is known whether there is room for them.
    private const int MostAtOnce = 16;

    private PacketPlaces? _places;

    private PacketPlaces Places => _places ??= new PacketPlaces(pool, packetBytes);

    /// <summary>The heap, for the tables of the streams.</summary>
    public NodeHeap Heap { get; } = heap ?? NodeHeap.OfProcess;

    public bool IsShort => pool.IsShort;

    /// <summary>The number of streams that hold packets.</summary>
    public int HoldingStreams { get; set; }

    /// <summary>How many bytes one stream may keep so that all streams that hold packets have room.</summary>
    public long BytesPerStream => pool.Shares.MostToKeep * SlabPool.BlockBytes / Math.Max(1, HoldingStreams);

    /// <summary>How many more packets a stream may accept while memory is short.</summary>
    /// <param name="placed">The number of its packets that are in places.</param>
    public int MayPlace(int placed) => Places.Allows(Math.Max(placed, 1)) ? MostAtOnce : Places.Allows(placed) ? 1 : 0;

    /// <summary>Returns a copy of the packet with one claim on it, or null.</summary>
    public Lease? TryPlace(ReadOnlySpan<byte> packet, int placed)
    {
        // Other nodes of the cluster may have larger packets than this node.
        var place = packet.Length <= packetBytes ? Places.TryTake(placed) : null;
        if (place is not null)
        {
            packet.CopyTo(place.Span);
        }

        return place;
    }
}
