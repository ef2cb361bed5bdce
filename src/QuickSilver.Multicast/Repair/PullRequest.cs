using System.Buffers.Binary;
using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;

namespace QuickSilver.Multicast.Repair;

// The body of a Pull packet: the sender of the stream (u64 id, u32 incarnation), the number of ranges (u16), then for each range its first
// number (i64) and its length (u32). It is read range by range. A length causes no allocation: the receiver clamps it to what it holds
// (T10). The packet's sequence is the highest number that the requester knows of: packets that were sent before that one are no longer in
// flight.
internal static class PullRequest
{
    public const int MaxRanges = 100;
    public const int MaxBytes = PacketHeader.Bytes + HeadBytes + (MaxRanges * RangeBytes);
    private const int HeadBytes = 14;
    private const int RangeBytes = 12;

    /// <summary>
    /// Writes a request for the numbers missing in (after, through], the oldest first, as far as they fit. Returns 0 if there are none.
    /// </summary>
    public static int Write(
        Span<byte> packet, in PacketTemplate template, NodeKey origin, long known, SequenceRanges missing, long after, long through)
    {
        template.Write(packet, PacketKind.Pull, PacketFlags.None, known, 0, 0);
        var body = packet[PacketHeader.Bytes..];
        BinaryPrimitives.WriteUInt64LittleEndian(body, origin.Id);
        BinaryPrimitives.WriteUInt32LittleEndian(body[8..], origin.Incarnation);
        int count = 0;
        int most = Math.Min(MaxRanges, (body.Length - HeadBytes) / RangeBytes);
        for (int i = 0; i < missing.Count && count < most; i++)
        {
            var (first, last) = missing[i];
            if (first > through)
            {
                break;
            }

            first = Math.Max(first, after + 1);
            last = Math.Min(last, through);
            if (first > last)
            {
                continue;
            }

            var range = body[(HeadBytes + (count * RangeBytes))..];
            BinaryPrimitives.WriteInt64LittleEndian(range, first);
            BinaryPrimitives.WriteUInt32LittleEndian(range[8..], (uint)Math.Min(last - first + 1, uint.MaxValue));
            count++;
        }

        BinaryPrimitives.WriteUInt16LittleEndian(body[12..], (ushort)count);
        int bytes = PacketHeader.Bytes + HeadBytes + (count * RangeBytes);
        PacketTemplate.Seal(packet[..bytes]);
        return count == 0 ? 0 : bytes;
    }

    public static bool TryRead(ReadOnlySpan<byte> body, out NodeKey origin, out int count)
    {
        origin = default;
        count = 0;
        if (body.Length < HeadBytes)
        {
            return false;
        }

        origin = new NodeKey(BinaryPrimitives.ReadUInt64LittleEndian(body), BinaryPrimitives.ReadUInt32LittleEndian(body[8..]));
        count = BinaryPrimitives.ReadUInt16LittleEndian(body[12..]);
        return count <= MaxRanges && body.Length >= HeadBytes + (count * RangeBytes);
    }

    public static (long First, long Last) Range(ReadOnlySpan<byte> body, int index)
    {
        var range = body[(HeadBytes + (index * RangeBytes))..];
        long first = Math.Max(0, BinaryPrimitives.ReadInt64LittleEndian(range));
        long length = BinaryPrimitives.ReadUInt32LittleEndian(range[8..]);
        return (first, first > long.MaxValue - length ? first - 1 : first + length - 1);
    }
}
