using System.Buffers.Binary;
using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;

namespace QuickSilver.Multicast.Stability;

// The body of an Ack packet, from a view's leader to one sender: u64 and u32 whose stream, i64 held by all, i64 accepted
// above by all, i64 read by all, i64 datagrams the members' kernels dropped so far, i64 the smallest receive buffer
// among them in bytes, u64 a mark of the members that are not counted because they are gone. The sender is named because its
// next life may have the same address and port, and send into the same view. The mark is there because the leader may have
// heard of a removal of which the sender has not: until it has, a member that the others left out may come to be one with it
// in another cluster, and lack what it has let go. Where all hold more that is told in ranges: u8 count, each as i64 first and
// i64 last.
internal readonly record struct AggregateAck(
    NodeKey Origin, long Stable, long Consumed, long Read, long KernelDrops, long ReceiveBufferBytes, ulong Gone)
{
    public const int Bytes = PacketHeader.Bytes + BodyBytes;
    public const int MostBytes = Bytes + 1 + (RecoveryRecord.MaxHeldRanges * RangeBytes);
    private const int BodyBytes = 60;
    private const int RangeBytes = 16;

    /// <summary>Bytes written.</summary>
    public int Write(Span<byte> packet, in PacketTemplate template, SequenceRanges? held = null)
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
        int used = Bytes;
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

    /// <summary>How many ranges a body tells beyond; 0 where it is cut short.</summary>
    public static int HeldRanges(ReadOnlySpan<byte> body) =>
        body.Length > BodyBytes && body.Length >= BodyBytes + 1 + (body[BodyBytes] * RangeBytes) ? body[BodyBytes] : 0;

    public static (long First, long Last) HeldRange(ReadOnlySpan<byte> body, int index)
    {
        var at = body[(BodyBytes + 1 + (index * RangeBytes))..];
        return (BinaryPrimitives.ReadInt64LittleEndian(at), BinaryPrimitives.ReadInt64LittleEndian(at[8..]));
    }

    public static bool TryRead(ReadOnlySpan<byte> body, out AggregateAck ack)
    {
        ack = default;
        if (body.Length < BodyBytes)
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
            BinaryPrimitives.ReadUInt64LittleEndian(body[52..]));
        return ack.Stable >= 0 && ack.Consumed >= 0 && ack.Read >= 0;
    }
}
