using QuickSilver.Core.Diagnostics;

namespace QuickSilver.Core.Tests.Diagnostics;

public sealed class CountedTests
{
    [Theory]
    [InlineData(0, "0 nodes")]
    [InlineData(1, "1 node")]
    [InlineData(2, "2 nodes")]
    [InlineData(12_345, "12,345 nodes")]
    public void One_thing_is_named_in_the_singular(long count, string expected) => Assert.Equal(expected, Counted.Of(count, "node"));
}
