using System.Buffers.Binary;
using System.Net;
using System.Net.Sockets;

namespace QuickSilver.Core.Wire;

// Whether datagrams go there and come back, asked of a node or of the membership service. An echo belongs to no view, and
// answering it takes no membership: so it also shows whether a node that is not a member yet could be one. The header's
// sequence is a nonce, which the reply repeats.
//
// An echo names the address that the answer goes to, as a receiver does not learn where a datagram came from. The answer is
// never larger than the question, so it cannot be used to amplify traffic. Echoes between members are as large as their data
// packets, and so are the answers: a path that drops large datagrams only is dead to them.
internal static class EchoPacket
{
    /// <summary>Of the smallest echo whose answer goes to an address of either kind.</summary>
    public const int Bytes = PacketHeader.Bytes + BodyBytes + Ipv6Bytes + FoundBytes;
    public const int ReplyBytes = PacketHeader.Bytes;
    private const int BodyBytes = 8;
    private const int Ipv4Bytes = 4;
    private const int Ipv6Bytes = 16;
    private const int PortOffset = 4;
    private const int LongAddressOffset = 6;
    private const int FoundOffset = BodyBytes + Ipv6Bytes;
    private const int FoundBytes = 2;

    /// <summary>Fills the packet, which has at least <see cref="Bytes"/>.</summary>
    /// <param name="packet">The packet.</param>
    /// <param name="template">Of its header.</param>
    /// <param name="nonce">Repeated by the reply.</param>
    /// <param name="answerTo">Where the reply goes.</param>
    /// <param name="found">The largest packet that the sender has found to pass between it and the receiver; 0: none.</param>
    public static void Write(Span<byte> packet, in PacketTemplate template, long nonce, IPEndPoint answerTo, int found = 0)
    {
        packet.Clear();
        template.Write(packet, PacketKind.Echo, PacketFlags.None, nonce, 0, 0);
        var body = packet[PacketHeader.Bytes..];
        bool isLong = answerTo.AddressFamily == AddressFamily.InterNetworkV6;
        answerTo.Address.TryWriteBytes(isLong ? body[BodyBytes..] : body, out _);
        BinaryPrimitives.WriteUInt16LittleEndian(body[PortOffset..], (ushort)answerTo.Port);
        BinaryPrimitives.WriteUInt16LittleEndian(body[LongAddressOffset..], isLong ? (ushort)Ipv6Bytes : (ushort)0);
        if (found > 0)
        {
            BinaryPrimitives.WriteUInt16LittleEndian(body[FoundOffset..], (ushort)found);
        }

        PacketTemplate.Seal(packet);
    }

    /// <summary>The largest packet that the sender has found to pass; 0: it names none.</summary>
    public static int ReadFound(ReadOnlySpan<byte> body) =>
        body.Length >= FoundOffset + FoundBytes ? BinaryPrimitives.ReadUInt16LittleEndian(body[FoundOffset..]) : 0;

    /// <summary>Makes an echo name no size.</summary>
    public static void ClearFound(Span<byte> body)
    {
        if (body.Length >= FoundOffset + FoundBytes)
        {
            body.Slice(FoundOffset, FoundBytes).Clear();
        }
    }

    /// <summary>Where the answer goes; null when that is no address of one node.</summary>
    public static IPEndPoint? ReadAnswerTo(ReadOnlySpan<byte> body)
    {
        if (body.Length < BodyBytes)
        {
            return null;
        }

        int port = BinaryPrimitives.ReadUInt16LittleEndian(body[PortOffset..]);
        int longBytes = BinaryPrimitives.ReadUInt16LittleEndian(body[LongAddressOffset..]);
        var address = longBytes == 0 ? ReadIpv4(body) : longBytes == Ipv6Bytes ? ReadIpv6(body[BodyBytes..]) : null;
        return port == 0 || address is null ? null : new IPEndPoint(address, port);
    }

    private static IPAddress? ReadIpv4(ReadOnlySpan<byte> body) => body[0] is 0 or >= 224 ? null : new IPAddress(body[..Ipv4Bytes]);

    private static IPAddress? ReadIpv6(ReadOnlySpan<byte> rest)
    {
        if (rest.Length < Ipv6Bytes)
        {
            return null;
        }

        var address = new IPAddress(rest[..Ipv6Bytes]);
        return address.IsIPv6Multicast || address.IsIPv4MappedToIPv6 || address.Equals(IPAddress.IPv6Any) ? null : address;
    }

    /// <summary>Fills the packet, which has at least <see cref="ReplyBytes"/>.</summary>
    public static void WriteReply(Span<byte> packet, in PacketTemplate template, long nonce)
    {
        packet.Clear();
        template.Write(packet, PacketKind.EchoReply, PacketFlags.None, nonce, 0, 0);
        PacketTemplate.Seal(packet);
    }
}
