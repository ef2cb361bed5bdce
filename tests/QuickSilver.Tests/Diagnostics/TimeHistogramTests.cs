using FsCheck;
using FsCheck.Fluent;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Diagnostics.Figures;

namespace QuickSilver.Tests.Diagnostics;

public sealed class TimeHistogramTests
{
    [Fact]
    public void A_histogram_without_samples_is_zero() => Assert.Equal(
        (0L, TimeSpan.Zero, TimeSpan.Zero),
        (TimeHistogram.Empty.Count, TimeHistogram.Empty.Mean, TimeHistogram.Empty.Percentile(0.99)));

    [Fact]
    public void The_class_of_a_percentile_is_that_of_the_sample_with_this_rank()
    {
        Prop.ForAll<PositiveInt[], PositiveInt>((micros, rank) =>
        {
            if (micros.Length == 0)
            {
                return;
            }

            var sorted = micros.Select(each => each.Get).Order().ToArray();
            int at = rank.Get % sorted.Length;
            var found = Of(sorted).Percentile((at + 1.0) / sorted.Length);
            double upper = 1;
            while (sorted[at] >= upper)
            {
                upper *= 2;
            }

            Assert.InRange(found.TotalMicroseconds, upper / 2 * 0.999, upper * 1.001);
        }).QuickCheckThrowOnFailure();
    }

    [Fact]
    public void Values_since_an_earlier_snapshot_are_the_difference()
    {
        var cells = new DurationHistogram();
        cells.Add(TimeSpan.FromMilliseconds(1));
        var before = TimeHistogram.Of(cells);
        cells.Add(TimeSpan.FromMilliseconds(100));
        cells.Add(TimeSpan.FromMilliseconds(100));

        var since = TimeHistogram.Of(cells).Since(before);

        Assert.Equal((2L, TimeSpan.FromMilliseconds(100)), (since.Count, since.Mean));
        Assert.InRange(since.Percentile(0).TotalMilliseconds, 65, 132);
    }

    [Fact]
    public void The_last_class_has_no_upper_limit_and_gives_its_lower_one()
    {
        Assert.Equal(TimeSpan.MaxValue, TimeHistogram.GetUpperBound(TimeHistogram.Classes - 1));
        Assert.Equal(TimeHistogram.GetUpperBound(TimeHistogram.Classes - 2), Of([int.MaxValue]).Percentile(1));
    }

    [Theory]
    [InlineData(-0.1)]
    [InlineData(1.1)]
    [InlineData(double.NaN)]
    public void A_share_is_from_0_to_1(double share) =>
        Assert.Throws<ArgumentOutOfRangeException>(() => TimeHistogram.Empty.Percentile(share));

    [Fact]
    public void The_classes_are_those_that_the_core_counts()
    {
        Assert.Equal(DurationHistogram.Classes, TimeHistogram.Classes);
        for (int i = 0; i < TimeHistogram.Classes; i++)
        {
            Assert.Equal(DurationHistogram.GetUpperBound(i), TimeHistogram.GetUpperBound(i));
        }
    }

    private static TimeHistogram Of(IEnumerable<int> micros)
    {
        var cells = new DurationHistogram();
        foreach (int each in micros)
        {
            cells.Add(TimeSpan.FromMicroseconds(each));
        }

        return TimeHistogram.Of(cells);
    }
}
