using System.Buffers.Binary;

namespace QuickSilver.Core.Wire;

// Ranges in a packet, relative to a base that the packet states elsewhere:
//
//   count   2 bytes, little-endian
//   then, count times, ascending:
//   skip    varint: numbers between the base (or two past the range before) and the first of this range
//   extra   varint: numbers in this range after its first
//
// Two past, as ranges that touched would be one: so every list of bytes that can be read is a sorted set of ranges that
// neither overlap nor touch, and there is one way to write each. A varint has seven bits a byte, lowest first, and is the
// shortest that holds its value.
//
// Reading trusts nothing. The count is held against a cap before a range is read, each range is clamped to the window
// that the reader deems possible, so a few bytes cannot name a huge range, and what is outside is told.
internal sealed partial class SequenceRanges
{
    private const int CountBytes = 2;
    private const int MaxVarintBytes = 9;

    /// <summary>Enough room for <see cref="WriteTo(Span{byte}, long, int)"/> to write this many ranges, whatever they are.</summary>
    public static int MaxWireBytes(int ranges) => CountBytes + ranges * 2 * MaxVarintBytes;

    /// <summary>Writes the lowest ranges at or above the base, as many as the limit and the room allow; returns the bytes.</summary>
    public int WriteTo(Span<byte> destination, long baseSequence, int maxRanges) =>
        WriteTo(destination, baseSequence, maxRanges, out _);

    /// <param name="destination">Where to; two bytes at least.</param>
    /// <param name="baseSequence">What the reader knows too; numbers below it are not written.</param>
    /// <param name="maxRanges">The most ranges to write.</param>
    /// <param name="rangesWritten">How many were written.</param>
    public int WriteTo(Span<byte> destination, long baseSequence, int maxRanges, out int rangesWritten)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(baseSequence);
        ArgumentOutOfRangeException.ThrowIfNegative(maxRanges);
        ArgumentOutOfRangeException.ThrowIfLessThan(destination.Length, CountBytes, nameof(destination));
        int limit = Math.Min(maxRanges, ushort.MaxValue);
        int length = CountBytes;
        int written = 0;
        long expected = baseSequence;
        for (int at = FirstEndingAtOrAfter(baseSequence); at < _count && written < limit; at++)
        {
            long first = Math.Max(_ranges[at].First, baseSequence);
            long last = _ranges[at].Last;
            if (!TryWriteVarint(destination, length, first - expected, out int afterSkip)
                || !TryWriteVarint(destination, afterSkip, last - first, out int afterExtra))
            {
                break;
            }

            length = afterExtra;
            written++;
            // Near the top of the numbers this passes MaxNumber by one; then no range can follow.
            expected = unchecked(last + 2);
        }

        BinaryPrimitives.WriteUInt16LittleEndian(destination, (ushort)written);
        rangesWritten = written;
        return length;
    }

    /// <summary>Reads what <see cref="WriteTo(Span{byte}, long, int)"/> wrote.</summary>
    public static bool TryRead(
        ReadOnlySpan<byte> source, long baseSequence, long clampFirst, long clampLast, int maxRanges, SequenceRanges into,
        out int consumed) =>
        TryRead(source, baseSequence, clampFirst, clampLast, maxRanges, into, out consumed, out _);

    /// <summary>
    /// Reads ranges into <paramref name="into"/>, replacing what it held. False: malformed, or more ranges than
    /// <paramref name="maxRanges"/> or the set's bound; the set is then empty. No bytes make it throw.
    /// </summary>
    /// <param name="source">Bytes from the network; what follows the ranges is left alone.</param>
    /// <param name="baseSequence">The base that the packet states; it may come from the network, too.</param>
    /// <param name="clampFirst">The least number that can be meant.</param>
    /// <param name="clampLast">The greatest number that can be meant; less than the least: none can.</param>
    /// <param name="maxRanges">The most ranges to accept.</param>
    /// <param name="into">The set to fill.</param>
    /// <param name="consumed">The bytes read, 0 when malformed.</param>
    /// <param name="refusedRanges">Ranges that lay wholly or in part outside of the clamp, for the caller to count.</param>
    public static bool TryRead(
        ReadOnlySpan<byte> source, long baseSequence, long clampFirst, long clampLast, int maxRanges, SequenceRanges into,
        out int consumed, out int refusedRanges)
    {
        into.Clear();
        consumed = 0;
        refusedRanges = 0;
        if (source.Length < CountBytes || baseSequence < 0)
        {
            return false;
        }

        int count = BinaryPrimitives.ReadUInt16LittleEndian(source);
        if (count > Math.Min(maxRanges, into.MaxRanges))
        {
            return false;
        }

        int at = CountBytes;
        long expected = baseSequence;
        for (int i = 0; i < count; i++)
        {
            if (!TryReadRange(source, ref at, expected, out var range))
            {
                into.Clear();
                refusedRanges = 0;
                return false;
            }

            long first = Math.Max(range.First, clampFirst);
            long last = Math.Min(range.Last, clampLast);
            refusedRanges += first == range.First && last == range.Last ? 0 : 1;
            if (first <= last)
            {
                into.Add(first, last);
            }

            expected = unchecked(range.Last + 2);
        }

        consumed = at;
        return true;
    }

    private static bool TryReadRange(ReadOnlySpan<byte> source, ref int at, long expected, out SequenceRange range)
    {
        range = default;
        // A negative expectation has wrapped: the range before ended at the top, and nothing can follow.
        if (expected < 0
            || !TryReadVarint(source, ref at, out long skip)
            || !TryReadVarint(source, ref at, out long extra)
            || skip > MaxNumber - expected
            || extra > MaxNumber - expected - skip)
        {
            return false;
        }

        range = new SequenceRange(expected + skip, expected + skip + extra);
        return true;
    }

    private static bool TryWriteVarint(Span<byte> destination, int at, long value, out int after)
    {
        ulong rest = (ulong)value;
        while (at < destination.Length)
        {
            bool isLast = rest < 0x80;
            destination[at++] = (byte)(isLast ? rest : rest | 0x80);
            if (isLast)
            {
                after = at;
                return true;
            }

            rest >>= 7;
        }

        after = at;
        return false;
    }

    private static bool TryReadVarint(ReadOnlySpan<byte> source, ref int at, out long value)
    {
        ulong sum = 0;
        for (int i = 0; i < MaxVarintBytes && at < source.Length; i++)
        {
            byte next = source[at++];
            sum |= (ulong)(next & 0x7F) << (7 * i);
            if (next < 0x80)
            {
                value = (long)sum;
                // A last byte of zero after others means that fewer bytes would have done: there is one way to write it.
                return next != 0 || i == 0;
            }
        }

        value = 0;
        return false;
    }
}
