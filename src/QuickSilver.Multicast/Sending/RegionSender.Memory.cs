using System.Runtime.CompilerServices;

namespace QuickSilver.Multicast.Sending;

// Memory of the collector's heap that messages need in the tables of a stream. It is taken before a message has a number: one that has a
// number and is not sent whole would be missing at its subscribers for ever.
internal sealed partial class RegionSender
{
    /// <summary>Whether the tables may have to grow for one more message of so many bytes.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool IsTight(int payloadBytes) =>
        _packets.IsTight(_packer.MostPackets(payloadBytes)) || _claims.IsTight(1) || _beginnings.IsTight;

    /// <summary>Makes room in the tables for one more message of so many bytes.</summary>
    /// <exception cref="OutOfMemoryException">There is no memory.</exception>
    public void Reserve(int payloadBytes)
    {
        var heap = _context.Environment.Heap;
        _packets.Reserve(_packer.MostPackets(payloadBytes), heap);
        _claims.Reserve(1, heap);
        _beginnings.Reserve(heap);
    }

    /// <summary>Whether the tables have to grow for so many packets and claims of a topic with an address of its own.</summary>
    public bool IsTightForShared(int packets, int claims) => _packets.IsTight(packets) || _claims.IsTight(claims);

    /// <summary>Makes room in the tables for so many packets and claims of a topic with an address of its own.</summary>
    /// <exception cref="OutOfMemoryException">There is no memory.</exception>
    public void ReserveShared(int packets, int claims)
    {
        var heap = _context.Environment.Heap;
        _packets.Reserve(packets, heap);
        _claims.Reserve(claims, heap);
    }
}
