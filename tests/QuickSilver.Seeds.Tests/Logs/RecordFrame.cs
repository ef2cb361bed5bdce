using System.Buffers.Binary;
using QuickSilver.Core.Wire;

namespace QuickSilver.Seeds.Tests.Logs;

// A record in a log: u32 length of the payload, above 0; u32 checksum of all the rest; i64 number; the payload. So zeros are no record.
internal static class RecordFrame
{
    public const int HeaderBytes = sizeof(uint) + sizeof(uint) + sizeof(long);
    public const int MaxPayload = 3000;

    private const int SumAt = sizeof(uint);
    private const int NumberAt = SumAt + sizeof(uint);

    public static byte[] Write(long number, ReadOnlySpan<byte> payload)
    {
        var frame = new byte[HeaderBytes + payload.Length];
        BinaryPrimitives.WriteInt32LittleEndian(frame, payload.Length);
        BinaryPrimitives.WriteInt64LittleEndian(frame.AsSpan(NumberAt), number);
        payload.CopyTo(frame.AsSpan(HeaderBytes));
        BinaryPrimitives.WriteUInt32LittleEndian(frame.AsSpan(SumAt), SumOf(frame));
        return frame;
    }

    /// <summary>The whole record that begins here, if one does.</summary>
    public static bool TryRead(ReadOnlySpan<byte> bytes, out long number, out int length)
    {
        (number, length) = (0, 0);
        if (bytes.Length < HeaderBytes)
        {
            return false;
        }

        int payload = BinaryPrimitives.ReadInt32LittleEndian(bytes);
        if (payload is < 1 or > MaxPayload || payload > bytes.Length - HeaderBytes)
        {
            return false;
        }

        length = HeaderBytes + payload;
        number = BinaryPrimitives.ReadInt64LittleEndian(bytes[NumberAt..]);
        return BinaryPrimitives.ReadUInt32LittleEndian(bytes[SumAt..]) == SumOf(bytes[..length]);
    }

    /// <summary>All whole records, in order. What lies between them is torn or rotten, and is passed over.</summary>
    public static List<FoundRecord> Scan(ReadOnlySpan<byte> log)
    {
        var found = new List<FoundRecord>();
        for (int at = 0; at < log.Length;)
        {
            if (TryRead(log[at..], out long number, out int length))
            {
                found.Add(new FoundRecord(number, at, log.Slice(at, length).ToArray()));
                at += length;
            }
            else
            {
                at++;
            }
        }

        return found;
    }

    private static uint SumOf(ReadOnlySpan<byte> frame) =>
        ~Crc32C.Append(Crc32C.Append(uint.MaxValue, frame[..SumAt]), frame[NumberAt..]);
}

internal readonly record struct FoundRecord(long Number, long Offset, byte[] Frame)
{
    public long End => Offset + Frame.Length;
}
