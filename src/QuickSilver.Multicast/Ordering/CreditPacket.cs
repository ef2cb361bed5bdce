using System.Buffers.Binary;
using QuickSilver.Core.Wire;

namespace QuickSilver.Multicast.Ordering;

// The body of a Credit packet: u16 count, then per topic its id (u64) and up to which of the sender's numbers in it this node
// takes messages (i64); the largest number: any. The header's sequence grows with each packet of a node, so that of two that came
// in the wrong order the newer counts.
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
