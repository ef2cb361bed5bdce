using System.Buffers.Binary;
using System.Diagnostics;

namespace QuickSilver.Tool.Perf;

// What a measuring message carries: the send time (this host's monotonic ticks; 0 in most of those that are sent as fast as
// it goes, as reading the clock costs as much as sending), its number in its topic from 1, and filler. The end marker carries
// the complement of the last number instead, so that what is missing at the end is seen. The begin marker stands where the
// warm-up ends.
internal static class PerfMessage
{
    public const int MinBytes = 16;

    public const int MaxBytes = 16 << 20;

    private const int SequenceOffset = 8;
    private const long Begin = long.MinValue;

    public static void Write(Span<byte> payload, long sentAtTicks, long sequence)
    {
        BinaryPrimitives.WriteInt64LittleEndian(payload, sentAtTicks);
        BinaryPrimitives.WriteInt64LittleEndian(payload[SequenceOffset..], sequence);
    }

    public static void WriteBegin(Span<byte> payload) => Write(payload, Stopwatch.GetTimestamp(), Begin);

    public static void WriteEnd(Span<byte> payload, long lastSequence) => Write(payload, Stopwatch.GetTimestamp(), ~lastSequence);

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

    public static long LastSequence(long endSequence) => ~endSequence;
}
