using System.Buffers.Binary;
using System.Net;

namespace QuickSilver.Core.Wire;

// Whether datagrams go there and come back, asked of a node or of the membership service. An echo belongs to no view, and
// answering it takes no membership: so it also tells whether a node that is not a member yet could be one. The header's
// sequence is a nonce, which the reply repeats.
//
// An echo names the address that the answer goes to, as a receiver is not told where a datagram came from. The answer is
// never larger than the question, so nobody can be made to amplify traffic. Echoes between members are as large as their data
// packets, and so are the answers: a path that drops large datagrams only is dead to them.
internal static class EchoPacket
{
    public const int Bytes = PacketHeader.Bytes + BodyBytes;
    public const int ReplyBytes = PacketHeader.Bytes;
    private const int BodyBytes = 8;
    private const int PortOffset = 4;

    /// <summary>Fills the packet, which has at least <see cref="Bytes"/>.</summary>
    public static void Write(Span<byte> packet, in PacketTemplate template, long nonce, IPEndPoint answerTo)
    {
        packet.Clear();
        template.Write(packet, PacketKind.Echo, PacketFlags.None, nonce, 0, 0);
        var body = packet[PacketHeader.Bytes..];
        answerTo.Address.TryWriteBytes(body, out _);
        BinaryPrimitives.WriteUInt16LittleEndian(body[PortOffset..], (ushort)answerTo.Port);
        PacketTemplate.Seal(packet);
    }

    /// <summary>Where the answer goes; null when that is no address of one node.</summary>
    public static IPEndPoint? ReadAnswerTo(ReadOnlySpan<byte> body)
    {
        if (body.Length < BodyBytes || body[0] is 0 or >= 224)
        {
            return null;
        }

        int port = BinaryPrimitives.ReadUInt16LittleEndian(body[PortOffset..]);
        return port == 0 ? null : new IPEndPoint(new IPAddress(body[..PortOffset]), port);
    }

    /// <summary>Fills the packet, which has at least <see cref="ReplyBytes"/>.</summary>
    public static void WriteReply(Span<byte> packet, in PacketTemplate template, long nonce)
    {
        packet.Clear();
        template.Write(packet, PacketKind.EchoReply, PacketFlags.None, nonce, 0, 0);
        PacketTemplate.Seal(packet);
    }
}
