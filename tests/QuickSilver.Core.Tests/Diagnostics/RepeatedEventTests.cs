using QuickSilver.Core.Diagnostics;

namespace QuickSilver.Core.Tests.Diagnostics;

public sealed class RepeatedEventTests
{
    [Fact]
    public void The_first_eight_are_logged_and_then_each_at_a_doubled_count() => Assert.Equal(
        [1, 2, 3, 4, 5, 6, 7, 8, 16, 32, 64],
        Enumerable.Range(1, 100).Where(static count => RepeatedEvent.IsLogged(count)));

    [Theory]
    [InlineData(1L << 40, true)]
    [InlineData((1L << 40) + 1, false)]
    [InlineData(long.MaxValue, false)]
    public void Large_counts_follow_the_same_rule(long count, bool isLogged) => Assert.Equal(isLogged, RepeatedEvent.IsLogged(count));
}
