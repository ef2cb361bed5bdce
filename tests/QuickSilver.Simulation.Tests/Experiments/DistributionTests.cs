using QuickSilver.Simulation.Experiments;

namespace QuickSilver.Simulation.Tests.Experiments;

public sealed class DistributionTests
{
    [Theory]
    [InlineData(0)]
    [InlineData(31)]
    [InlineData(32)]
    [InlineData(1_000)]
    [InlineData(123_456_789)]
    [InlineData(long.MaxValue)]
    public void A_value_alone_is_every_quantile(long value)
    {
        var values = new Distribution();
        values.Add(value);

        Assert.Equal((value, value, value), (values.Quantile(0), values.Quantile(0.5), values.Quantile(1)));
    }

    [Fact]
    public void Quantiles_are_right_to_three_percent()
    {
        var values = new Distribution();
        for (int i = 1; i <= 10_000; i++)
        {
            values.Add(i * 17);
        }

        Assert.InRange(values.Quantile(0.5), 5000 * 17, 5000 * 17 * 1.04);
        Assert.InRange(values.Quantile(0.99), 9900 * 17, 9900 * 17 * 1.04);
        Assert.Equal(10_000 * 17, values.Quantile(1));
        Assert.Equal(5000.5 * 17, values.Mean, 1e-6);
        Assert.InRange(values.ShareUpTo(5000 * 17), 0.5, 0.52);
        Assert.Equal(1, values.ShareUpTo(10_000 * 17));
        Assert.Equal(0, values.ShareUpTo(16));
    }

    [Fact]
    public void Nothing_is_left_of_what_was_cleared()
    {
        var values = new Distribution();
        values.Add(5);
        values.Clear();

        Assert.Equal((0L, 0L, 0L, 0.0), (values.Count, values.Most, values.Quantile(0.5), values.Mean));
    }
}
