using QuickSilver.Core.Buffers;
using QuickSilver.Core.Wire;
using QuickSilver.Multicast.Sending.Packing;

namespace QuickSilver.Multicast.Sending.Shared;

// The data packets of one stream, made of the shared packets that it keeps with others: the memory of a shared packet has the header of
// none of its streams. Used where a region could not take a shared run, and gets it by itself.
internal sealed class SharedCopies
{
    private readonly byte[] _run = new byte[SlabPool.BlockBytes];

    /// <summary>A run of packets that the buffer holds, all of them shared. Valid until the next call.</summary>
    public ReadOnlySpan<byte> Of(RetentionBuffer packets, long first, int count, in PacketTemplate template)
    {
        int used = 0;
        for (long n = first; n < first + count; n++)
        {
            ref var packet = ref packets[n];
            var copy = _run.AsSpan(used, packet.Length);
            packet.Lease!.Span.Slice(packet.Offset, packet.Length).CopyTo(copy);
            SharedPacket.MakeData(copy, new SharedEntry(template.Region, template.View, n));
            PacketTemplate.Seal(copy);
            used += packet.Length;
        }

        return _run.AsSpan(0, used);
    }
}
