using QuickSilver.Core.Buffers;
using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Schemes;

namespace QuickSilver.Multicast.Receiving.Healing;

// The data packets of a view between its streams and the part of the repair scheme that sees all of them: in the form that they have at
// each member, and back.
internal readonly struct HealedPackets(ReceivingParts parts, RegionReceiver region)
{
    /// <summary>Shows a packet that was accepted. A shared one becomes the packet that it is in its stream.</summary>
    public void Show(IRegionRepair healing, InboundStream stream, long number, ReadOnlySpan<byte> packet)
    {
        if (new PacketHeader(packet).Kind == PacketKind.Shared)
        {
            var copy = parts.Node.Scratch.Of<SharedCopy>().Of(packet, parts.Node.Options.PacketBytes);
            SharedPacket.MakeData(copy, new SharedEntry(region.View.RegionId, region.View.Number, number));
            packet = copy;
        }

        healing.OnAccepted(stream, number, packet);
    }

    public DropReason Take(ReadOnlySpan<byte> packet)
    {
        var node = parts.Node;
        if (packet.Length is < PacketHeader.Bytes || packet.Length > node.Options.PacketBytes)
        {
            return DropReason.Malformed;
        }

        var block = parts.Healing;
        if (block.TryReserve(packet.Length, out int offset) is not { } lease)
        {
            return DropReason.NoMemory;
        }

        var copy = lease.Span.Slice(offset, packet.Length);
        packet.CopyTo(copy);
        PacketTemplate.Seal(copy);
        var header = new PacketHeader(copy);
        var refused = PacketHeader.Validate(copy, node.Options.ClusterId);
        if (refused != DropReason.None)
        {
            return refused;
        }

        if (header.Kind != PacketKind.Data || header.Region != region.View.RegionId || header.View != region.View.Number)
        {
            return DropReason.Malformed;
        }

        // Before the packet is passed on: what its messages do may heal others.
        block.Take(packet.Length);
        lease.AddClaim();
        try
        {
            return Take(header, copy, lease, offset);
        }
        finally
        {
            lease.Release();
        }
    }

    private DropReason Take(in PacketHeader header, Span<byte> packet, Lease lease, int offset)
    {
        var key = new StreamKey(new NodeKey(header.Sender, header.Incarnation), new StreamClass(header.StreamClass));
        var refused = region.FindFor(key, header.Sequence, out var stream);
        if (refused != DropReason.None)
        {
            return refused;
        }

        if (parts.Node.Options.IsSealed)
        {
            // It is sent again sealed, and needs no checksum.
            PacketTemplate.CompleteWithoutChecksum(packet);
        }

        refused = region.OnData(stream!, header.Sequence, lease, offset, packet.Length);
        if (refused == DropReason.None)
        {
            parts.Node.Counters.PacketsHealed++;
            region.Stability.OnActivity(stream!);
        }

        return refused;
    }

    private sealed class SharedCopy
    {
        private byte[] _bytes = [];

        public Span<byte> Of(ReadOnlySpan<byte> packet, int most)
        {
            _bytes = _bytes.Length == 0 ? new byte[most] : _bytes;
            packet.CopyTo(_bytes);
            return _bytes.AsSpan(0, packet.Length);
        }
    }
}
