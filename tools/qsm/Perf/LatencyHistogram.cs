using System.Diagnostics;
using System.Numerics;

namespace QuickSilver.Tool.Perf;

// Counts durations in buckets that grow with the value, as HdrHistogram does: 64 per power of two, so a percentile is
// at most 1.6% too high, from a nanosecond to centuries, in 30 KB and without an allocation. The maximum is exact.
// One thread records; reading waits until it has ended.
internal sealed class LatencyHistogram
{
    private const int SubBucketBits = 6;
    private const int SubBuckets = 1 << SubBucketBits;

    private static readonly double NanosPerTick = 1e9 / Stopwatch.Frequency;

    private readonly long[] _counts = new long[(64 - SubBucketBits) * SubBuckets];
    private long _maxNanos;

    public long Count { get; private set; }

    public double MaxMicros => Micros(_maxNanos);

    /// <summary>Adds what another histogram has recorded.</summary>
    public void Add(LatencyHistogram other)
    {
        for (int i = 0; i < _counts.Length; i++)
        {
            _counts[i] += other._counts[i];
        }

        Count += other.Count;
        _maxNanos = Math.Max(_maxNanos, other._maxNanos);
    }

    public void RecordTicks(long ticks) => RecordNanos((long)(ticks * NanosPerTick));

    public void RecordNanos(long nanos)
    {
        nanos = Math.Max(nanos, 0);
        _counts[IndexOf(nanos)]++;
        Count++;
        _maxNanos = Math.Max(_maxNanos, nanos);
    }

    /// <summary>The least bucket bound that no less than this share of the values lies under; 0 where there are none.</summary>
    public double PercentileMicros(double share)
    {
        long wanted = Math.Max(1, (long)Math.Ceiling(share * Count));
        long seen = 0;
        for (int i = 0; i < _counts.Length; i++)
        {
            seen += _counts[i];
            if (seen >= wanted)
            {
                return Micros(Math.Min(HighestOf(i), _maxNanos));
            }
        }

        return 0;
    }

    // Values below two powers' worth of sub-buckets have one each; above, the top seven bits choose the bucket.
    private static int IndexOf(long nanos)
    {
        int shift = Math.Max(0, 63 - SubBucketBits - BitOperations.LeadingZeroCount((ulong)nanos));
        return (shift << SubBucketBits) + (int)(nanos >> shift);
    }

    private static long HighestOf(int index)
    {
        int shift = Math.Max(0, (index >> SubBucketBits) - 1);
        long top = index - ((long)shift << SubBucketBits);
        return ((top + 1) << shift) - 1;
    }

    private static double Micros(long nanos) => Math.Round(nanos / 1e3, 1);
}
