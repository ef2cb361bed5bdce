using System.Buffers.Binary;
using System.Net;
using QuickSilver.Membership.Views;

namespace QuickSilver.Membership.Client;

// When and by whom a service was begun: of two that meet, the one that began later yields.
internal readonly record struct HostIdentity(long StartedTicks, ulong Id) : IComparable<HostIdentity>
{
    public bool IsHost => Id != 0;

    public int CompareTo(HostIdentity other)
    {
        int byStart = StartedTicks.CompareTo(other.StartedTicks);
        return byStart != 0 ? byStart : Id.CompareTo(other.Id);
    }
}

// A question for, or an answer about, the membership service of a cluster: 64 bytes, little-endian. A question and its
// answer are of the same size, so that nobody can be made to amplify traffic.
//   0  magic "QSD1"      4  kind (1 question, 2 answer)    8  hash of the cluster's name    16  nonce
//  24  host: start       32 host: id (0: not a host)      40  IPv4 address and port: where to answer, or the service
internal readonly record struct DiscoveryDatagram(bool IsAnswer, ulong ClusterHash, ulong Nonce, HostIdentity Host, IPEndPoint EndPoint)
{
    public const int Bytes = 64;
    private const uint Magic = 0x31445351;
    private const byte Question = 1;
    private const byte Answer = 2;

    public static ulong HashOf(string cluster) => TopicId.Of(cluster);

    public void Write(Span<byte> bytes)
    {
        bytes[..Bytes].Clear();
        BinaryPrimitives.WriteUInt32LittleEndian(bytes, Magic);
        bytes[4] = IsAnswer ? Answer : Question;
        BinaryPrimitives.WriteUInt64LittleEndian(bytes[8..], ClusterHash);
        BinaryPrimitives.WriteUInt64LittleEndian(bytes[16..], Nonce);
        BinaryPrimitives.WriteInt64LittleEndian(bytes[24..], Host.StartedTicks);
        BinaryPrimitives.WriteUInt64LittleEndian(bytes[32..], Host.Id);
        EndPoint.Address.TryWriteBytes(bytes.Slice(40, 4), out _);
        BinaryPrimitives.WriteUInt16LittleEndian(bytes[44..], (ushort)EndPoint.Port);
    }

    public static bool TryRead(ReadOnlySpan<byte> bytes, out DiscoveryDatagram datagram)
    {
        datagram = default;
        if (bytes.Length < Bytes || BinaryPrimitives.ReadUInt32LittleEndian(bytes) != Magic || bytes[4] is not (Question or Answer))
        {
            return false;
        }

        int port = BinaryPrimitives.ReadUInt16LittleEndian(bytes[44..]);
        if (port == 0)
        {
            return false;
        }

        datagram = new DiscoveryDatagram(
            bytes[4] == Answer,
            BinaryPrimitives.ReadUInt64LittleEndian(bytes[8..]),
            BinaryPrimitives.ReadUInt64LittleEndian(bytes[16..]),
            new HostIdentity(BinaryPrimitives.ReadInt64LittleEndian(bytes[24..]), BinaryPrimitives.ReadUInt64LittleEndian(bytes[32..])),
            new IPEndPoint(new IPAddress(bytes.Slice(40, 4)), port));
        return true;
    }
}
