using QuickSilver.Core.Tests.Infrastructure;
using QuickSilver.Core.Wire;

namespace QuickSilver.Core.Tests.Wire;

// Covers T10 and the bound of I17 for sets of gaps.
public sealed class SequenceRangesTests
{
    private const int Universe = 40;

    // The bottom of the numbers, the middle, and the top, where arithmetic would wrap.
    private static readonly long[] Origins = [0, 1L << 40, SequenceRanges.MaxNumber - Universe + 1];

    [Fact]
    public void Ranges_that_touch_become_one()
    {
        var set = SetOf((1, 3), (7, 9), (5, 5));
        Assert.Equal(3, set.Count);
        set.Add(4);
        Assert.Equal([new SequenceRange(1, 5), new SequenceRange(7, 9)], set.Ranges.ToArray());
        set.Add(6);
        Assert.Equal("1..9", set.ToString());
        Assert.Equal(9, set.TotalNumbers);
    }

    [Fact]
    public void A_removal_from_the_middle_splits()
    {
        var set = SetOf((0, 9));
        Assert.True(set.Remove(4, 5));
        Assert.Equal("0..3, 6..9", set.ToString());
        Assert.Equal(8, set.TotalNumbers);
    }

    [Fact]
    public void The_whole_of_the_numbers_fits()
    {
        var set = SetOf((0, SequenceRanges.MaxNumber));
        Assert.Equal(long.MaxValue, set.TotalNumbers);
        set.Remove(0);
        set.Remove(SequenceRanges.MaxNumber);
        Assert.Equal(long.MaxValue - 2, set.TotalNumbers);
        Assert.Equal(1, set.Count);
    }

    [Fact]
    public void Impossible_ranges_are_refused()
    {
        var set = new SequenceRanges(4);
        Assert.Throws<ArgumentOutOfRangeException>(() => set.Add(-1, 1));
        Assert.Throws<ArgumentOutOfRangeException>(() => set.Add(2, 1));
        Assert.Throws<ArgumentOutOfRangeException>(() => set.Add(0, long.MaxValue));
        Assert.Throws<ArgumentOutOfRangeException>(() => set.Remove(2, 1));
        Assert.Throws<ArgumentOutOfRangeException>(() => new SequenceRanges(0));
    }

    [Theory]
    [InlineData(1)]
    [InlineData(3)]
    [InlineData(Universe)]
    public void The_set_does_as_a_hash_set_does_within_its_bound(int maxRanges)
    {
        Steps.Hold(steps =>
        {
            long origin = Origins[steps.Length % Origins.Length];
            var set = new SequenceRanges(maxRanges);
            var model = new HashSet<long>();
            foreach (int step in steps)
            {
                long first = origin + step / 8 % Universe;
                long last = first + Math.Min(step / 512 % 6, origin + Universe - 1 - first);
                var numbers = Enumerable.Range(0, (int)(last - first) + 1).Select(i => first + i);
                var wanted = new HashSet<long>(model);
                bool done = true;
                switch (step % 8)
                {
                    case < 4:
                        wanted.UnionWith(numbers);
                        done = set.Add(first, last);
                        break;
                    case < 7:
                        wanted.ExceptWith(numbers);
                        done = set.Remove(first, last);
                        break;
                    default:
                        wanted.RemoveWhere(number => number > last);
                        set.RemoveAbove(last);
                        break;
                }

                // Refused exactly when the result would not fit, and then nothing has changed.
                Assert.Equal(RangesOf(wanted).Count <= maxRanges, done);
                model = done ? wanted : model;
                AssertSame(model, set);
                AssertLooksAgree(model, set, origin, first, last);
            }
        });
    }

    [Theory]
    [InlineData(2)]
    [InlineData(Universe)]
    public void Set_algebra_agrees_with_hash_sets_and_keeps_the_lowest_at_the_bound(int maxRanges)
    {
        Steps.Hold(steps =>
        {
            long origin = Origins[steps.Length % Origins.Length];
            var (left, right) = (new HashSet<long>(), new HashSet<long>());
            foreach (int step in steps)
            {
                (step % 2 == 0 ? left : right).Add(origin + step / 2 % Universe);
            }

            left = RangesOf(left).Take(maxRanges).SelectMany(Numbers).ToHashSet();
            var other = Filled(right, Universe);

            var both = Filled(left, maxRanges);
            AssertLowest(left.Where(right.Contains), both, both.IntersectWith(other));
            var gaps = new SequenceRanges(maxRanges);
            var universe = Enumerable.Range(0, Universe).Select(i => origin + i);
            AssertLowest(universe.Where(number => !right.Contains(number)), gaps, other.AddMissing(origin, origin + Universe - 1, gaps));
            AssertSame(right, other);
        });
    }

    [Fact]
    public void A_steady_stream_of_gaps_allocates_nothing()
    {
        var set = new SequenceRanges(64);
        var other = SetOf((0, 5), (9, 12));
        long allocated = Allocations.After(() =>
        {
            for (int i = 0; i < 2000; i++)
            {
                set.Add(i * 7, i * 7 + 3);
                set.Remove(i * 7 + 1);
                set.Remove(0, Math.Max(0, i * 7 - 50));
            }

            set.IntersectWith(other);
            set.Add(0, 100);
            set.Clear();
        });

        Assert.Equal(0, allocated);
    }

    internal static SequenceRanges SetOf(params (long First, long Last)[] ranges)
    {
        var set = new SequenceRanges(1024);
        foreach (var (first, last) in ranges)
        {
            set.Add(first, last);
        }

        return set;
    }

    internal static List<SequenceRange> RangesOf(IEnumerable<long> numbers)
    {
        var ranges = new List<SequenceRange>();
        foreach (long number in numbers.Order())
        {
            if (ranges.Count > 0 && ranges[^1].Last + 1 == number)
            {
                ranges[^1] = ranges[^1] with { Last = number };
            }
            else
            {
                ranges.Add(new SequenceRange(number, number));
            }
        }

        return ranges;
    }

    private static IEnumerable<long> Numbers(SequenceRange range) =>
        Enumerable.Range(0, (int)range.Numbers).Select(i => range.First + i);

    private static SequenceRanges Filled(HashSet<long> numbers, int maxRanges)
    {
        var set = new SequenceRanges(maxRanges);
        foreach (long number in numbers.Order())
        {
            Assert.True(set.Add(number));
        }

        return set;
    }

    private static void AssertLowest(IEnumerable<long> wanted, SequenceRanges set, bool isWhole)
    {
        var ranges = RangesOf(wanted);
        Assert.Equal(ranges.Count <= set.MaxRanges, isWhole);
        AssertSame(ranges.Take(set.MaxRanges).SelectMany(Numbers).ToHashSet(), set);
    }

    private static void AssertSame(HashSet<long> model, SequenceRanges set)
    {
        Assert.Equal(RangesOf(model), set.Ranges.ToArray());
        Assert.Equal(model.Count, set.TotalNumbers);
        Assert.Equal(model.Count == 0, set.IsEmpty);
    }

    private static void AssertLooksAgree(HashSet<long> model, SequenceRanges set, long origin, long first, long last)
    {
        var asked = Enumerable.Range(0, (int)(last - first) + 1).Select(i => first + i).ToList();
        Assert.Equal(asked.All(model.Contains), set.ContainsAll(first, last));
        for (long number = origin; number < origin + Universe; number++)
        {
            Assert.Equal(model.Contains(number), set.Contains(number));
        }
    }
}
