using System.Buffers.Binary;
using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;

namespace QuickSilver.Multicast.Stability.Tokens;

// The body of an Ack packet, from the leader of a view to one sender: u64 and u32 the sender of the stream, i64 held by all, i64 accepted
// above by all, i64 read by all, i64 datagrams that the members' kernels have dropped so far, i64 the smallest receive buffer of the
// members in bytes, u64 a mark of the members that are not counted because they have been removed; the collective NAK of all members: u32
// its age in microseconds, u8 count of ranges, then each as i64 first and u32 length. If ranges are reported that all members hold in
// addition, u8 their count follows, then each as i64 first and i64 last.
//
// The body names the sender because another incarnation may later have the same address and port, and send into the same view. The mark is
// necessary because the leader may know of a removal that the sender does not know of yet. Until the sender knows of it, a member that the
// others have left out may still be a member for the sender, in another part of a split cluster, and lack packets that the sender would
// release.
internal readonly record struct AggregateAck(
    NodeKey Origin, long Stable, long Consumed, long Read, long KernelDrops, long ReceiveBufferBytes, ulong Gone)
{
    public const int Bytes = PacketHeader.Bytes + BodyBytes;
    public const int MostBytes = Bytes + (RecoveryRecord.MaxRanges * LackedBytes) + 1 + (RecoveryRecord.MaxHeldRanges * RangeBytes);
    private const int BodyBytes = 65;
    private const int AgeOffset = 60;
    private const int CountOffset = 64;
    private const int LackedBytes = 12;
    private const int RangeBytes = 16;

    /// <summary>How long ago the first of the members reported what it lacks.</summary>
    public TimeSpan Age { get; init; }

    /// <summary>Returns the number of bytes written.</summary>
    public int Write(Span<byte> packet, in PacketTemplate template, SequenceRanges? lacked = null, SequenceRanges? held = null)
    {
        template.Write(packet, PacketKind.Ack, PacketFlags.None, 0, 0, 0);
        var body = packet[PacketHeader.Bytes..];
        BinaryPrimitives.WriteUInt64LittleEndian(body, Origin.Id);
        BinaryPrimitives.WriteUInt32LittleEndian(body[8..], Origin.Incarnation);
        BinaryPrimitives.WriteInt64LittleEndian(body[12..], Stable);
        BinaryPrimitives.WriteInt64LittleEndian(body[20..], Consumed);
        BinaryPrimitives.WriteInt64LittleEndian(body[28..], Read);
        BinaryPrimitives.WriteInt64LittleEndian(body[36..], KernelDrops);
        BinaryPrimitives.WriteInt64LittleEndian(body[44..], ReceiveBufferBytes);
        BinaryPrimitives.WriteUInt64LittleEndian(body[52..], Gone);
        BinaryPrimitives.WriteUInt32LittleEndian(body[AgeOffset..], (uint)Math.Min(Age.TotalMicroseconds, uint.MaxValue));
        int used = Bytes;
        body[CountOffset] = (byte)Math.Min(lacked?.Count ?? 0, RecoveryRecord.MaxRanges);
        for (int i = 0; i < body[CountOffset]; i++, used += LackedBytes)
        {
            BinaryPrimitives.WriteInt64LittleEndian(packet[used..], lacked![i].First);
            BinaryPrimitives.WriteUInt32LittleEndian(packet[(used + 8)..], (uint)Math.Min(lacked[i].Numbers, uint.MaxValue));
        }

        if (held is { Count: > 0 })
        {
            int count = Math.Min(held.Count, RecoveryRecord.MaxHeldRanges);
            packet[used++] = (byte)count;
            for (int i = 0; i < count; i++, used += RangeBytes)
            {
                BinaryPrimitives.WriteInt64LittleEndian(packet[used..], held[i].First);
                BinaryPrimitives.WriteInt64LittleEndian(packet[(used + 8)..], held[i].Last);
            }
        }

        PacketTemplate.Seal(packet[..used]);
        return used;
    }

    /// <summary>The number of ranges that all members lack, in a body that was read.</summary>
    public static int LackedRanges(ReadOnlySpan<byte> body) => body[CountOffset];

    public static (long First, long Last) LackedRange(ReadOnlySpan<byte> body, int index)
    {
        var at = body[(BodyBytes + (index * LackedBytes))..];
        long first = Math.Max(0, BinaryPrimitives.ReadInt64LittleEndian(at));
        long length = BinaryPrimitives.ReadUInt32LittleEndian(at[8..]);
        return (first, first > long.MaxValue - length ? first - 1 : first + length - 1);
    }

    /// <summary>The number of additional ranges in a body; 0 if it is truncated.</summary>
    public static int HeldRanges(ReadOnlySpan<byte> body)
    {
        int at = BodyBytes + (LackedRanges(body) * LackedBytes);
        return body.Length > at && body.Length >= at + 1 + (body[at] * RangeBytes) ? body[at] : 0;
    }

    public static (long First, long Last) HeldRange(ReadOnlySpan<byte> body, int index)
    {
        var at = body[(BodyBytes + (LackedRanges(body) * LackedBytes) + 1 + (index * RangeBytes))..];
        return (BinaryPrimitives.ReadInt64LittleEndian(at), BinaryPrimitives.ReadInt64LittleEndian(at[8..]));
    }

    public static bool TryRead(ReadOnlySpan<byte> body, out AggregateAck ack)
    {
        ack = default;
        if (body.Length < BodyBytes || body[CountOffset] > RecoveryRecord.MaxRanges
            || body.Length < BodyBytes + (body[CountOffset] * LackedBytes))
        {
            return false;
        }

        ack = new AggregateAck(
            new NodeKey(BinaryPrimitives.ReadUInt64LittleEndian(body), BinaryPrimitives.ReadUInt32LittleEndian(body[8..])),
            BinaryPrimitives.ReadInt64LittleEndian(body[12..]),
            BinaryPrimitives.ReadInt64LittleEndian(body[20..]),
            BinaryPrimitives.ReadInt64LittleEndian(body[28..]),
            BinaryPrimitives.ReadInt64LittleEndian(body[36..]),
            BinaryPrimitives.ReadInt64LittleEndian(body[44..]),
            BinaryPrimitives.ReadUInt64LittleEndian(body[52..]))
        {
            Age = TimeSpan.FromMicroseconds(BinaryPrimitives.ReadUInt32LittleEndian(body[AgeOffset..])),
        };
        return ack.Stable >= 0 && ack.Consumed >= 0 && ack.Read >= 0;
    }
}
