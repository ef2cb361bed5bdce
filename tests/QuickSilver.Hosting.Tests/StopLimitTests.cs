namespace QuickSilver.Hosting.Tests;

public sealed class StopLimitTests
{
    [Theory]
    [InlineData(30, 0, 1, 28)]
    [InlineData(30, 5, 1, 23)]
    [InlineData(30, 28, 1, 0)]
    [InlineData(30, 60, 1, 0)]
    [InlineData(30, 0, 2, 14)]
    [InlineData(30, 14, 1, 14)]
    [InlineData(4, 0, 1, 3)]
    [InlineData(0, 0, 1, 0)]
    [InlineData(-0.001, 0, 1, 86_398)]
    public void A_node_is_drained_for_what_the_host_s_time_has_left(double timeout, double elapsed, int nodes, double drain)
    {
        var limit = new StopLimit(null, TimeSpan.FromSeconds(timeout), TimeSpan.FromSeconds(elapsed), nodes);
        Assert.Equal(TimeSpan.FromSeconds(drain), limit.Drain);
        Assert.Contains("raise HostOptions.ShutdownTimeout, which is ", limit.Remedy);
    }

    [Fact]
    public void An_option_replaces_what_the_host_allows_and_is_named()
    {
        var limit = new StopLimit(TimeSpan.FromSeconds(90), TimeSpan.FromSeconds(30), TimeSpan.FromSeconds(29), 3);
        Assert.Equal(TimeSpan.FromSeconds(90), limit.Drain);
        Assert.Equal("To wait longer, raise Hosting:DrainLimit, which is 00:01:30.", limit.Remedy);
    }
}
