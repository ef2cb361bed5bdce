using System.Buffers.Binary;
using System.Numerics;

namespace QuickSilver.Processes.Tests.Campaigns;

// What forgers know of a packet: where the fields of its header are, and its checksum, as docs/wire-format.md has them.
internal static class WirePacket
{
    public const int HeaderBytes = 64;
    public const int KindAt = 1;
    public const int LengthAt = 4;
    public const int SequenceAt = 40;
    public const int EpochAt = 48;
    public const int TagBytesAt = 61;
    private const int ChecksumAt = 52;

    /// <summary>Writes the checksum of a whole packet.</summary>
    public static void WriteChecksum(Span<byte> packet)
    {
        var field = packet[ChecksumAt..];
        BinaryPrimitives.WriteUInt32LittleEndian(field, 0);
        uint sum = uint.MaxValue;
        foreach (byte one in packet)
        {
            sum = BitOperations.Crc32C(sum, one);
        }

        BinaryPrimitives.WriteUInt32LittleEndian(field, ~sum);
    }
}
