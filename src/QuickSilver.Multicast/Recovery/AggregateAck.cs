using System.Buffers.Binary;
using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;

namespace QuickSilver.Multicast.Recovery;

// The body of an Ack packet, from a view's leader to one sender: u64 and u32 whose stream, i64 held by all, i64 accepted
// above by all, i64 read by all, i64 datagrams the members' kernels dropped so far, i64 the smallest receive buffer
// among them in bytes, u64 a mark of the members that are not counted because they are gone. The sender is named because its
// next life may have the same address and port, and send into the same view. The mark is there because the leader may have
// heard of a removal of which the sender has not: until it has, a member that the others left out may come to be one with it
// in another cluster, and lack what it has let go.
internal readonly record struct AggregateAck(
    NodeKey Origin, long Stable, long Consumed, long Read, long KernelDrops, long ReceiveBufferBytes, ulong Gone)
{
    public const int Bytes = PacketHeader.Bytes + BodyBytes;
    private const int BodyBytes = 60;

    public void Write(Span<byte> packet, in PacketTemplate template)
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
        PacketTemplate.Seal(packet[..Bytes]);
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
