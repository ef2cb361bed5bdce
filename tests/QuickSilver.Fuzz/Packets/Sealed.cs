using System.Buffers.Binary;
using QuickSilver.Core.Wire;

namespace QuickSilver.Fuzz.Packets;

// Makes a packet of bytes: what a fuzzer cannot guess is set, and the rest stays.
internal static class Sealed
{
    /// <summary>Sets the version, the cluster, the length and the checksum, and takes away a key that no node has.</summary>
    public static void AsOf(Span<byte> packet, ulong cluster)
    {
        packet[PacketHeader.VersionOffset] = PacketHeader.CurrentVersion;
        BinaryPrimitives.WriteUInt64LittleEndian(packet[PacketHeader.ClusterOffset..], cluster);
        BinaryPrimitives.WriteUInt32LittleEndian(packet[PacketHeader.KeyEpochOffset..], 0);
        packet[PacketHeader.TagBytesOffset] = 0;
        PacketTemplate.Seal(packet);
    }
}
