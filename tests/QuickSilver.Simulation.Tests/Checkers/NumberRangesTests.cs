using FsCheck;
using FsCheck.Fluent;
using QuickSilver.Simulation.Checkers.Records;

namespace QuickSilver.Simulation.Tests.Checkers;

public sealed class NumberRangesTests
{
    [Fact]
    public void It_holds_what_a_set_of_numbers_would()
    {
        Prop.ForAll<byte[], byte[]>((singles, starts) =>
        {
            var ranges = new NumberRanges();
            var model = new HashSet<long>();
            bool same = true;
            foreach (byte start in starts)
            {
                ranges.Add(start, start + (start % 7));
                model.UnionWith(Enumerable.Range(start, (start % 7) + 1).Select(number => (long)number));
            }

            foreach (byte single in singles)
            {
                same &= ranges.Add(single) == model.Add(single);
            }

            return same
                && ranges.IsEmpty == (model.Count == 0)
                && (ranges.IsEmpty || ranges.Least == model.Min())
                && Enumerable.Range(0, 300).All(first => ranges.FirstMissing(first) == FirstMissing(model, first));
        }).Check(Config.QuickThrowOnFailure.WithMaxTest(300));
    }

    private static long FirstMissing(HashSet<long> model, long first)
    {
        while (model.Contains(first))
        {
            first++;
        }

        return first;
    }
}
