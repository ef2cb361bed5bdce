using System.Collections.Immutable;
using QuickSilver.Core.Diagnostics;

namespace QuickSilver.Diagnostics.Figures;

/// <summary>
/// How long something took, or how late it was: a snapshot of counts in classes that double from one to the next, from 1 microsecond to
/// 4 seconds. Instances are immutable.
/// </summary>
internal sealed class TimeHistogram
{
    /// <summary>The number of classes. The last one has no upper limit.</summary>
    public const int Classes = 24;

    public TimeHistogram(ImmutableArray<long> counts, TimeSpan total)
    {
        Counts = counts;
        Total = total;
        foreach (long count in counts)
        {
            Count += count;
        }
    }

    /// <summary>A histogram without samples.</summary>
    public static TimeHistogram Empty { get; } = new([.. new long[Classes]], TimeSpan.Zero);

    /// <summary>A snapshot of cells that the layers below write; null: no samples. From any thread.</summary>
    public static TimeHistogram Of(DurationHistogram? cells)
    {
        if (cells is null)
        {
            return Empty;
        }

        var counts = ImmutableArray.CreateBuilder<long>(Classes);
        for (int i = 0; i < DurationHistogram.Classes; i++)
        {
            counts.Add(cells.CountOf(i));
        }

        return new TimeHistogram(counts.DrainToImmutable(), cells.Total);
    }

    /// <summary>The number of samples in each class: those below its <see cref="GetUpperBound"/> that are in no earlier class.</summary>
    public ImmutableArray<long> Counts { get; }

    /// <summary>The number of samples.</summary>
    public long Count { get; }

    /// <summary>The sum of all samples.</summary>
    public TimeSpan Total { get; }

    /// <summary>The mean; zero without samples.</summary>
    public TimeSpan Mean => Count > 0 ? Total / Count : TimeSpan.Zero;

    /// <summary>
    /// The upper limit of a class: 1 microsecond for the first, twice as much for each that follows, and <see cref="TimeSpan.MaxValue"/>
    /// for the last.
    /// </summary>
    /// <param name="number">The class, from 0 to <see cref="Classes"/> - 1.</param>
    /// <exception cref="ArgumentOutOfRangeException">There is no such class.</exception>
    public static TimeSpan GetUpperBound(int number)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(number);
        ArgumentOutOfRangeException.ThrowIfGreaterThanOrEqual(number, Classes);
        return number == Classes - 1 ? TimeSpan.MaxValue : TimeSpan.FromMicroseconds(1L << number);
    }

    /// <summary>
    /// The time that this share of the samples did not exceed. The class is exact; within it, the samples are taken to be spread evenly. In
    /// the last class, its lower limit. Zero without samples.
    /// </summary>
    /// <param name="share">The share, from 0 to 1. For the median, 0.5.</param>
    /// <exception cref="ArgumentOutOfRangeException">The share is not from 0 to 1.</exception>
    public TimeSpan Percentile(double share)
    {
        if (share is not (>= 0 and <= 1))
        {
            throw new ArgumentOutOfRangeException(nameof(share), share, "A share is from 0 to 1.");
        }

        // Rounded, so that the rank of a sample that a share was computed from is this sample's again.
        double rank = Math.Round(share * Count, 6);
        long before = 0;
        for (int i = 0; i < Counts.Length; i++)
        {
            if (Counts[i] > 0 && before + Counts[i] >= rank)
            {
                var lower = i == 0 ? TimeSpan.Zero : GetUpperBound(i - 1);
                return i == Classes - 1 ? lower : lower + ((GetUpperBound(i) - lower) * ((rank - before) / Counts[i]));
            }

            before += Counts[i];
        }

        return TimeSpan.Zero;
    }

    /// <summary>The samples that came after an earlier snapshot of the same histogram.</summary>
    /// <param name="earlier">The earlier snapshot.</param>
    public TimeHistogram Since(TimeHistogram earlier)
    {
        ArgumentNullException.ThrowIfNull(earlier);
        var counts = ImmutableArray.CreateBuilder<long>(Classes);
        for (int i = 0; i < Classes; i++)
        {
            counts.Add(Math.Max(0, Counts[i] - earlier.Counts[i]));
        }

        return new TimeHistogram(counts.DrainToImmutable(), Total > earlier.Total ? Total - earlier.Total : TimeSpan.Zero);
    }
}
