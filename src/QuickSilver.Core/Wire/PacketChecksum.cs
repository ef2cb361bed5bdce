using System.Buffers.Binary;
using System.Numerics;
using System.Runtime.InteropServices;

namespace QuickSilver.Core.Wire;

// CRC-32C over a packet, the four checksum bytes read as zero. The kernel's own checksum is 16 bits and is not computed at
// all on some paths (loopback, virtual links), so end to end it is ours that holds I3.
//
// One CRC instruction waits three cycles for the one before it. So the packet is cut in four equal lanes whose chains run
// side by side, and the four results and the odd tail are chained at the end: not the textbook CRC of the whole, but as
// strong, and the same on every machine.
internal static class PacketChecksum
{
    public static uint Compute(ReadOnlySpan<byte> packet)
    {
        var words = MemoryMarshal.Cast<byte, ulong>(packet);
        const int MaskedWord = PacketHeader.ChecksumOffset / 8;
        // The word that holds the checksum goes in first, masked; the lanes skip the header's words up to and with it.
        uint head = uint.MaxValue;
        for (int i = 0; i < MaskedWord; i++)
        {
            head = BitOperations.Crc32C(head, Little(words[i]));
        }

        head = BitOperations.Crc32C(head, Little(words[MaskedWord]) & 0x0000_0000_FFFF_FFFF);
        words = words[(MaskedWord + 1)..];
        int lane = words.Length / 4;
        uint a = 1, b = 2, c = 3, d = 4;
        var first = words[..lane];
        var second = words.Slice(lane, lane);
        var third = words.Slice(2 * lane, lane);
        var fourth = words.Slice(3 * lane, lane);
        for (int i = 0; i < first.Length; i++)
        {
            a = BitOperations.Crc32C(a, Little(first[i]));
            b = BitOperations.Crc32C(b, Little(second[i]));
            c = BitOperations.Crc32C(c, Little(third[i]));
            d = BitOperations.Crc32C(d, Little(fourth[i]));
        }

        uint sum = BitOperations.Crc32C(BitOperations.Crc32C(head, ((ulong)a << 32) | b), ((ulong)c << 32) | d);
        for (int i = 4 * lane; i < words.Length; i++)
        {
            sum = BitOperations.Crc32C(sum, Little(words[i]));
        }

        foreach (byte odd in packet[(packet.Length & ~7)..])
        {
            sum = BitOperations.Crc32C(sum, odd);
        }

        return ~sum;
    }

    private static ulong Little(ulong word) => BitConverter.IsLittleEndian ? word : BinaryPrimitives.ReverseEndianness(word);
}
