using System.Numerics;

namespace QuickSilver.Microbenchmarks.Wire;

// The other way to remember what is missing in a window: a bit for each number, in a ring of words.
internal sealed class SequenceBitmap(int window)
{
    private readonly ulong[] _words = new ulong[window / 64];

    public void Add(long first, long last)
    {
        for (long at = first; at <= last; at = (at | 63) + 1)
        {
            long end = Math.Min(at | 63, last);
            Word(at) |= Mask(at, end);
        }
    }

    public void Remove(long number) => Word(number) &= ~Mask(number, number);

    public bool Contains(long number) => (Word(number) & Mask(number, number)) != 0;

    /// <summary>The first number from <paramref name="from"/> on that is in the set, or <paramref name="end"/>.</summary>
    public long NextSet(long from, long end) => Next(from, end, flip: 0);

    /// <summary>The first number from <paramref name="from"/> on that is not in the set, or <paramref name="end"/>.</summary>
    public long NextClear(long from, long end) => Next(from, end, flip: ulong.MaxValue);

    private long Next(long from, long end, ulong flip)
    {
        while (from < end)
        {
            ulong word = (Word(from) ^ flip) >> (int)(from & 63);
            if (word != 0)
            {
                return Math.Min(from + BitOperations.TrailingZeroCount(word), end);
            }

            from = (from | 63) + 1;
        }

        return end;
    }

    private ref ulong Word(long number) => ref _words[(number >> 6) & (_words.Length - 1)];

    private static ulong Mask(long first, long last) => (ulong.MaxValue >> (63 - (int)(last - first))) << (int)(first & 63);
}
