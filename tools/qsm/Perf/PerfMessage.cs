using System.Buffers.Binary;

namespace QuickSilver.Tool.Perf;

// What a measuring message carries: the send time (this host's monotonic ticks; 0 in most where many go, as reading the
// clock costs as much as sending), its number in its topic from 1, and filler. The end marker carries the complement of the
// last number instead, so that what is missing at the end is seen. The begin marker stands where the warm-up ends.
internal static class PerfMessage
{
    public const int MinBytes = 16;

    public const int MaxBytes = 16 << 20;

    /// <summary>The number of the begin marker.</summary>
    public const long Begin = long.MinValue;

    private const int SequenceOffset = 8;

    public static void Write(Span<byte> payload, long sentAtTicks, long sequence)
    {
        BinaryPrimitives.WriteInt64LittleEndian(payload, sentAtTicks);
        BinaryPrimitives.WriteInt64LittleEndian(payload[SequenceOffset..], sequence);
    }

    public static bool TryRead(ReadOnlySpan<byte> payload, out long sentAtTicks, out long sequence)
    {
        if (payload.Length < MinBytes)
        {
            sentAtTicks = sequence = 0;
            return false;
        }

        sentAtTicks = BinaryPrimitives.ReadInt64LittleEndian(payload);
        sequence = BinaryPrimitives.ReadInt64LittleEndian(payload[SequenceOffset..]);
        return true;
    }

    public static bool IsBegin(long sequence) => sequence == Begin;

    public static bool IsEnd(long sequence) => sequence < 0;

    /// <summary>The number of the end marker after <paramref name="lastSequence"/>.</summary>
    public static long End(long lastSequence) => ~lastSequence;

    public static long LastSequence(long endSequence) => ~endSequence;
}
