using System.Buffers.Binary;
using QuickSilver.Core.Wire;

namespace QuickSilver.Core.Sealing;

// The form of a sealed packet (docs/wire-format.md): the header in plain, the body encrypted, and a trailer:
//
//   u64 sealer id, u32 sealer incarnation, u64 counter, 16 bytes tag
//
// The header is associated data, as it is on the wire: with the length of the whole, the key epoch and the size of the trailer, and a
// checksum of 0. Sealer and epoch choose the subkey and the counter is the nonce, so the tag covers all of it.
internal static class SealedPacket
{
    public const int TagBytes = 16;
    public const int TrailerBytes = sizeof(ulong) + sizeof(uint) + sizeof(ulong) + TagBytes;
    public const int LeastBytes = PacketHeader.Bytes + TrailerBytes;

    private const int IncarnationOffset = 8;
    private const int CounterOffset = 12;
    private const int TagOffset = 20;

    /// <summary>
    /// What of a packet can be checked without its key. A packet that is not sealed is refused before anything of it is used.
    /// </summary>
    public static DropReason Validate(ReadOnlySpan<byte> bytes, ulong cluster)
    {
        if (bytes.Length < PacketHeader.Bytes)
        {
            return DropReason.Truncated;
        }

        var header = new PacketHeader(bytes);
        if (header.Version != PacketHeader.CurrentVersion)
        {
            return DropReason.UnknownVersion;
        }

        if (header.TagBytes != TrailerBytes || header.KeyEpoch == 0)
        {
            return DropReason.Unsealed;
        }

        if (header.Length < LeastBytes)
        {
            return DropReason.Malformed;
        }

        if (header.Length > bytes.Length)
        {
            return DropReason.Truncated;
        }

        if (header.Cluster != cluster)
        {
            return DropReason.ForeignCluster;
        }

        if (header.Kind is PacketKind.None or > PacketKinds.Last)
        {
            return DropReason.UnknownKind;
        }

        return header.Sequence < 0 || header.HeadBytes > header.Length - LeastBytes || header.Checksum != 0
            ? DropReason.Malformed
            : DropReason.None;
    }

    /// <param name="packet">The whole packet.</param>
    public static Sealer SealerOf(ReadOnlySpan<byte> packet)
    {
        var trailer = packet[^TrailerBytes..];
        return new Sealer(
            BinaryPrimitives.ReadUInt64LittleEndian(trailer), BinaryPrimitives.ReadUInt32LittleEndian(trailer[IncarnationOffset..]));
    }

    /// <param name="packet">The whole packet.</param>
    public static ulong CounterOf(ReadOnlySpan<byte> packet) =>
        BinaryPrimitives.ReadUInt64LittleEndian(packet[^(TrailerBytes - CounterOffset)..]);

    /// <summary>
    /// Whether the packet is counted with data. Control packets are counted apart, so that a burst of data does not age them.
    /// </summary>
    public static bool IsData(PacketKind kind) => PacketKinds.ClassOf(kind) != PacketClass.Control;

    /// <summary>Fills in the nonce, 12 bytes.</summary>
    public static void WriteNonce(Span<byte> nonce, PacketKind kind, ulong counter)
    {
        BinaryPrimitives.WriteUInt64LittleEndian(nonce, counter);
        BinaryPrimitives.WriteUInt32LittleEndian(nonce[sizeof(ulong)..], IsData(kind) ? 0U : 1U);
    }

    /// <summary>Writes the header of the sealed form of a packet, and its trailer but for the tag.</summary>
    /// <param name="plain">The packet.</param>
    /// <param name="into">As long as the packet and a trailer.</param>
    /// <param name="sealer">The node that seals it.</param>
    /// <param name="epoch">The key epoch.</param>
    /// <param name="counter">The counter.</param>
    public static void WriteFrame(ReadOnlySpan<byte> plain, Span<byte> into, Sealer sealer, uint epoch, ulong counter)
    {
        plain[..PacketHeader.Bytes].CopyTo(into);
        BinaryPrimitives.WriteUInt16LittleEndian(into[PacketHeader.LengthOffset..], (ushort)into.Length);
        BinaryPrimitives.WriteUInt32LittleEndian(into[PacketHeader.KeyEpochOffset..], epoch);
        BinaryPrimitives.WriteUInt32LittleEndian(into[PacketHeader.ChecksumOffset..], 0);
        into[PacketHeader.TagBytesOffset] = TrailerBytes;
        var trailer = into[^TrailerBytes..];
        BinaryPrimitives.WriteUInt64LittleEndian(trailer, sealer.Id);
        BinaryPrimitives.WriteUInt32LittleEndian(trailer[IncarnationOffset..], sealer.Incarnation);
        BinaryPrimitives.WriteUInt64LittleEndian(trailer[CounterOffset..], counter);
    }

    /// <summary>Makes the header of an opened packet that of one which was never sealed.</summary>
    public static void ClearFrame(Span<byte> packet)
    {
        BinaryPrimitives.WriteUInt16LittleEndian(packet[PacketHeader.LengthOffset..], (ushort)(packet.Length - TrailerBytes));
        BinaryPrimitives.WriteUInt32LittleEndian(packet[PacketHeader.KeyEpochOffset..], 0);
        packet[PacketHeader.TagBytesOffset] = 0;
    }

    public static Span<byte> Body(Span<byte> packet) => packet[PacketHeader.Bytes..^TrailerBytes];

    public static Span<byte> Tag(Span<byte> packet) => packet[^(TrailerBytes - TagOffset)..];
}
