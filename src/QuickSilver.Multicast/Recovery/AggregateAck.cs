using System.Buffers.Binary;
using QuickSilver.Core.Wire;

namespace QuickSilver.Multicast.Recovery;

// The body of an Ack packet, from a view's leader to one sender: i64 held by all, i64 accepted above by all, i64 datagrams
// the members' kernels dropped so far, i64 the smallest receive buffer among them in bytes.
internal readonly record struct AggregateAck(long Stable, long Consumed, long KernelDrops, long ReceiveBufferBytes)
{
    public const int Bytes = PacketHeader.Bytes + BodyBytes;
    private const int BodyBytes = 32;

    public void Write(Span<byte> packet, in PacketTemplate template)
    {
        template.Write(packet, PacketKind.Ack, PacketFlags.None, 0, 0, 0);
        var body = packet[PacketHeader.Bytes..];
        BinaryPrimitives.WriteInt64LittleEndian(body, Stable);
        BinaryPrimitives.WriteInt64LittleEndian(body[8..], Consumed);
        BinaryPrimitives.WriteInt64LittleEndian(body[16..], KernelDrops);
        BinaryPrimitives.WriteInt64LittleEndian(body[24..], ReceiveBufferBytes);
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
            BinaryPrimitives.ReadInt64LittleEndian(body),
            BinaryPrimitives.ReadInt64LittleEndian(body[8..]),
            BinaryPrimitives.ReadInt64LittleEndian(body[16..]),
            BinaryPrimitives.ReadInt64LittleEndian(body[24..]));
        return ack.Stable >= 0 && ack.Consumed >= 0;
    }
}
