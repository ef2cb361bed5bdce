using System.Buffers.Binary;
using QuickSilver.Core.Wire;

namespace QuickSilver.Multicast.Ordering.Credit;

// The body of a Credit packet: u16 count, then for each topic its id (u64) and the last number of the sender's messages in it that this
// node takes (i64; the largest value means no limit). The header's sequence increases with each packet of a node: if two packets arrive in
// the wrong order, the newer one applies.
internal static class CreditPacket
{
    public const int MaxEntries = 30;
    public const int MaxBytes = PacketHeader.Bytes + HeadBytes + (MaxEntries * EntryBytes);
    public const long Unlimited = long.MaxValue;
    private const int HeadBytes = 2;
    private const int EntryBytes = 16;

    public static int Write(Span<byte> packet, in PacketTemplate template, long stamp, ReadOnlySpan<(ulong Topic, long Through)> entries)
    {
        template.Write(packet, PacketKind.Credit, PacketFlags.None, stamp, 0, 0);
        var body = packet[PacketHeader.Bytes..];
        BinaryPrimitives.WriteUInt16LittleEndian(body, (ushort)entries.Length);
        for (int i = 0; i < entries.Length; i++)
        {
            var entry = body[(HeadBytes + (i * EntryBytes))..];
            BinaryPrimitives.WriteUInt64LittleEndian(entry, entries[i].Topic);
            BinaryPrimitives.WriteInt64LittleEndian(entry[8..], entries[i].Through);
        }

        int bytes = PacketHeader.Bytes + HeadBytes + (entries.Length * EntryBytes);
        PacketTemplate.Seal(packet[..bytes]);
        return bytes;
    }

    public static bool TryRead(ReadOnlySpan<byte> body, out int count)
    {
        count = body.Length < HeadBytes ? 0 : BinaryPrimitives.ReadUInt16LittleEndian(body);
        return count is > 0 and <= MaxEntries && body.Length >= HeadBytes + (count * EntryBytes);
    }

    public static (ulong Topic, long Through) Entry(ReadOnlySpan<byte> body, int index)
    {
        var entry = body[(HeadBytes + (index * EntryBytes))..];
        return (BinaryPrimitives.ReadUInt64LittleEndian(entry), BinaryPrimitives.ReadInt64LittleEndian(entry[8..]));
    }
}
