using System.Buffers.Binary;
using System.Diagnostics;

namespace QuickSilver.Tool.Perf;

// What a measuring message carries: the send time (this host's monotonic ticks), its number in its topic from 1, and
// filler. The end marker carries the complement of the last number instead, so that what is missing at the end is seen.
internal static class PerfMessage
{
    public const int MinBytes = 16;

    public const int MaxBytes = 16 << 20;

    private const int SequenceOffset = 8;

    public static void Write(Span<byte> payload, long sequence)
    {
        BinaryPrimitives.WriteInt64LittleEndian(payload, Stopwatch.GetTimestamp());
        BinaryPrimitives.WriteInt64LittleEndian(payload[SequenceOffset..], sequence);
    }

    public static void WriteEnd(Span<byte> payload, long lastSequence) => Write(payload, ~lastSequence);

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

    public static bool IsEnd(long sequence) => sequence < 0;

    public static long LastSequence(long endSequence) => ~endSequence;
}
