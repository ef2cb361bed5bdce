using System.Buffers.Binary;
using System.Numerics;

namespace QuickSilver.Core.Wire;

// CRC-32C over a packet, the four checksum bytes read as zero. The kernel's own checksum is 16 bits and is not computed at
// all on some paths (loopback, virtual links), so end to end it is ours that holds I3.
internal static class PacketChecksum
{
    private const int AfterChecksum = PacketHeader.ChecksumOffset + sizeof(uint);

    public static uint Compute(ReadOnlySpan<byte> packet)
    {
        uint sum = Crc32C.ByWords(uint.MaxValue, packet[..(AfterChecksum - sizeof(ulong))]);
        // The word that ends with the checksum.
        sum = BitOperations.Crc32C(sum, (ulong)BinaryPrimitives.ReadUInt32LittleEndian(packet[(AfterChecksum - sizeof(ulong))..]));
        return ~Crc32C.Append(sum, packet[AfterChecksum..]);
    }
}
