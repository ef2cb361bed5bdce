using QuickSilver.Core.Environment;

namespace QuickSilver.Core.Tests.Environment;

public sealed class EphemeralPortsTests
{
    [Theory]
    [InlineData("32768\t60999\n", "\n", 32_768, 60_999)]
    [InlineData("1024 65535", "8080", 1024, 65_535)]
    [InlineData("nonsense", "", 49_152, 65_535)]
    [InlineData("", "", 49_152, 65_535)]
    public void The_range_is_as_the_system_says_and_the_registered_one_where_it_says_nothing(
        string range, string reserved, int first, int last)
    {
        var ports = EphemeralPorts.Parse(range, reserved);
        Assert.Equal((first, last), (ports.First, ports.Last));
        Assert.True(ports.Contains(first) && ports.Contains(last));
        Assert.False(ports.Contains(first - 1) || ports.Contains(last + 1));
    }

    [Fact]
    public void Reserved_ports_are_never_given_away()
    {
        var ports = EphemeralPorts.Parse("32768 60999", "33000, 40000-40002\n");
        Assert.Equal(
            [32_999, 33_001, 39_999, 40_003],
            ((int[])[32_999, 33_000, 33_001, 39_999, 40_000, 40_001, 40_002, 40_003]).Where(ports.Contains));
    }

    [Fact]
    public void This_system_has_some() => Assert.InRange(EphemeralPorts.Read().Last, 1024, 65_535);
}
