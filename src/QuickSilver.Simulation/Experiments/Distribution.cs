using System.Numerics;

namespace QuickSilver.Simulation.Experiments;

// Many values without keeping each: they are counted in classes, 32 to each doubling, so a quantile is right to 3 %.
internal sealed class Distribution
{
    private const int ClassBits = 5;
    private const int ClassesOfDoubling = 1 << ClassBits;

    private readonly long[] _counts = new long[(64 - ClassBits) * ClassesOfDoubling];
    private double _sum;

    public long Count { get; private set; }

    public long Most { get; private set; }

    public double Mean => Count == 0 ? 0 : _sum / Count;

    public void Add(long value)
    {
        value = Math.Max(0, value);
        _counts[ClassOf(value)]++;
        _sum += value;
        Count++;
        Most = Math.Max(Most, value);
    }

    public void Clear()
    {
        Array.Clear(_counts);
        _sum = Count = Most = 0;
    }

    /// <summary>The value that this share of all values does not exceed; 0 without values.</summary>
    public long Quantile(double share)
    {
        long rank = Math.Max(1, (long)Math.Ceiling(share * Count));
        long seen = 0;
        for (int i = 0; Count > 0 && i < _counts.Length; i++)
        {
            seen += _counts[i];
            if (seen >= rank)
            {
                return Math.Min(Most, LimitOf(i));
            }
        }

        return 0;
    }

    /// <summary>The share of all values that do not exceed this one, or are of its class; 0 without values.</summary>
    public double ShareUpTo(long value)
    {
        long count = 0;
        for (int i = 0; i <= ClassOf(Math.Max(0, value)); i++)
        {
            count += _counts[i];
        }

        return Count == 0 ? 0 : (double)count / Count;
    }

    private static int ClassOf(long value)
    {
        if (value < ClassesOfDoubling)
        {
            return (int)value;
        }

        int doubling = BitOperations.Log2((ulong)value) - ClassBits;
        return (doubling * ClassesOfDoubling) + (int)(value >> doubling);
    }

    // The greatest value of a class.
    private static long LimitOf(int number)
    {
        if (number < ClassesOfDoubling)
        {
            return number;
        }

        int doubling = (number / ClassesOfDoubling) - 1;
        return ((number - ((long)doubling * ClassesOfDoubling) + 1) << doubling) - 1;
    }
}
