using System.Buffers.Binary;
using System.Net;
using System.Net.Sockets;
using QuickSilver.Membership.Protocol;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Client.Discovery;

internal enum DiscoveryKind : byte
{
    None = 0,
    Question = 1,
    Answer = 2,
    // A host that continues claims this to another host, which answered its question and yields.
    Claim = 3,
}

// A question for the membership service of a cluster, an answer about it, or a host's claim: 64 bytes, little-endian, and 16 more with
// an IPv6 address. All on a network are of the same size, so that no node can be made to amplify traffic.
//   0  magic "QSD2"            4  kind         5  version of the membership protocol      8  hash of the cluster's name
//  16  nonce of the question  24  configuration of the host   32  id of the host (0: not a host)
//  40  IPv4 address and port: where to answer, or the service 46  bytes of an IPv6 address in its place (16), or 0
//  48  members of the host     56  token: what a claim repeats   64  the IPv6 address
// Byte 6 says whether 16 bytes follow that authenticate it (DiscoverySeal).
// The first 16 bytes are the same in all versions; of another version nothing else is read.
internal readonly record struct DiscoveryDatagram(
    DiscoveryKind Kind, ulong ClusterHash, ulong Nonce, HostStanding Host, IPEndPoint EndPoint, ulong Token = 0)
{
    public const int MostBytes = LeastBytes + Ipv6Bytes;
    private const int LeastBytes = 64;
    private const int Ipv4Bytes = 4;
    private const int Ipv6Bytes = 16;
    // The first byte of an address of many hosts, and of those from there on with IPv4.
    private const byte FirstGroup = 224;
    private const byte GroupV6 = 0xff;
    private const uint Magic = 0x32445351;

    private static readonly IPEndPoint Nowhere = new(IPAddress.Any, 0);

    public byte Version { get; init; } = ControlFrame.ProtocolVersion;

    /// <summary>The key by which it was authenticated, or is to be; null: the node's own, or none.</summary>
    public byte[]? Key { get; init; }

    public static ulong HashOf(string cluster) => TopicId.Of(cluster);

    /// <summary>Fills the first of <see cref="MostBytes"/>; their number.</summary>
    public int Write(Span<byte> bytes)
    {
        bool isLong = EndPoint.AddressFamily == AddressFamily.InterNetworkV6;
        bytes[..MostBytes].Clear();
        BinaryPrimitives.WriteUInt32LittleEndian(bytes, Magic);
        bytes[4] = (byte)Kind;
        bytes[5] = Version;
        BinaryPrimitives.WriteUInt64LittleEndian(bytes[8..], ClusterHash);
        BinaryPrimitives.WriteUInt64LittleEndian(bytes[16..], Nonce);
        BinaryPrimitives.WriteInt64LittleEndian(bytes[24..], Host.Configuration);
        BinaryPrimitives.WriteUInt64LittleEndian(bytes[32..], Host.Id);
        EndPoint.Address.TryWriteBytes(isLong ? bytes[LeastBytes..] : bytes.Slice(40, Ipv4Bytes), out _);
        BinaryPrimitives.WriteUInt16LittleEndian(bytes[44..], (ushort)EndPoint.Port);
        BinaryPrimitives.WriteUInt16LittleEndian(bytes[46..], isLong ? (ushort)Ipv6Bytes : (ushort)0);
        BinaryPrimitives.WriteInt32LittleEndian(bytes[48..], Host.Members);
        BinaryPrimitives.WriteUInt64LittleEndian(bytes[56..], Token);
        return isLong ? MostBytes : LeastBytes;
    }

    /// <summary>How many bytes the first datagram takes of those that came joined.</summary>
    public static int LengthOf(ReadOnlySpan<byte> bytes) =>
        bytes.Length >= MostBytes && LongBytes(bytes) == Ipv6Bytes ? MostBytes : LeastBytes;

    /// <summary>False when it is no discovery. Of another version, only the version and the cluster are read.</summary>
    public static bool TryRead(ReadOnlySpan<byte> bytes, out DiscoveryDatagram datagram)
    {
        datagram = default;
        if (bytes.Length < LeastBytes || BinaryPrimitives.ReadUInt32LittleEndian(bytes) != Magic)
        {
            return false;
        }

        byte version = bytes[5];
        ulong cluster = BinaryPrimitives.ReadUInt64LittleEndian(bytes[8..]);
        if (version != ControlFrame.ProtocolVersion)
        {
            datagram = new DiscoveryDatagram(DiscoveryKind.None, cluster, 0, default, Nowhere) { Version = version };
            return true;
        }

        var kind = (DiscoveryKind)bytes[4];
        int port = BinaryPrimitives.ReadUInt16LittleEndian(bytes[44..]);
        int members = BinaryPrimitives.ReadInt32LittleEndian(bytes[48..]);
        if (kind is not (DiscoveryKind.Question or DiscoveryKind.Answer or DiscoveryKind.Claim) || port == 0 || members < 0
            || ReadAddress(bytes) is not { } address)
        {
            return false;
        }

        datagram = new DiscoveryDatagram(
            kind,
            cluster,
            BinaryPrimitives.ReadUInt64LittleEndian(bytes[16..]),
            new HostStanding(
                BinaryPrimitives.ReadUInt64LittleEndian(bytes[32..]), members, BinaryPrimitives.ReadInt64LittleEndian(bytes[24..])),
            new IPEndPoint(address, port),
            BinaryPrimitives.ReadUInt64LittleEndian(bytes[56..]));
        return true;
    }

    private static int LongBytes(ReadOnlySpan<byte> bytes) => BinaryPrimitives.ReadUInt16LittleEndian(bytes[46..]);

    // One that many hosts have would be answered by many datagrams.
    private static IPAddress? ReadAddress(ReadOnlySpan<byte> bytes) => LongBytes(bytes) switch
    {
        0 when bytes[40] < FirstGroup => new IPAddress(bytes.Slice(40, Ipv4Bytes)),
        Ipv6Bytes when bytes.Length >= MostBytes && bytes[LeastBytes] != GroupV6 => new IPAddress(bytes.Slice(LeastBytes, Ipv6Bytes)),
        _ => null,
    };
}
