using FsCheck;
using FsCheck.Fluent;
using QuickSilver.Core.Sealing;

namespace QuickSilver.Core.Tests.Sealing;

public sealed class ReplayWindowTests
{
    // Steps from the highest so far: near it, at the edges of words and of the window, and far beyond.
    private static Gen<int> Steps() => Gen.OneOf(
        Gen.Choose(-3, 3), Gen.Choose(-130, 130), Gen.Choose(-ReplayWindow.Counters - 2, ReplayWindow.Counters + 2),
        Gen.Choose(0, 100_000));

    [Theory]
    [InlineData(1)]
    [InlineData(63)]
    [InlineData(5_000)]
    public void All_up_to_where_a_window_begins_has_come_and_nothing_after_it(int through)
    {
        var window = new ReplayWindow((ulong)through);
        Assert.All(Enumerable.Range(0, through + 1), counter => Assert.False(window.TryNote((ulong)counter)));
        Assert.All(
            Enumerable.Range(through + 1, 3 * ReplayWindow.Counters).Where(static counter => counter % 3 != 0),
            counter => Assert.True(window.TryNote((ulong)counter)));
        Assert.True(window.Highest >= (ulong)(through + (3 * ReplayWindow.Counters) - 1));
    }

    [Fact]
    public void Each_counter_is_taken_once_and_what_is_behind_the_window_never()
    {
        Prop.ForAll(
            Steps().ListOf().ToArbitrary(),
            steps =>
            {
                var window = new ReplayWindow();
                var come = new HashSet<long>();
                long highest = 0;
                foreach (int step in steps)
                {
                    long counter = Math.Max(1, highest + step);
                    bool isNew = counter > highest - ReplayWindow.Counters && come.Add(counter);
                    if (window.TryNote((ulong)counter) != isNew)
                    {
                        return false;
                    }

                    highest = Math.Max(highest, counter);
                }

                return true;
            }).QuickCheckThrowOnFailure();
    }

    [Fact]
    public void The_largest_counter_and_none_are_no_exceptions()
    {
        var window = new ReplayWindow();
        Assert.False(window.TryNote(0));
        Assert.True(window.TryNote(ulong.MaxValue));
        Assert.False(window.TryNote(ulong.MaxValue));
        Assert.False(window.TryNote(1));
        Assert.True(window.TryNote(ulong.MaxValue - 1));
    }
}
