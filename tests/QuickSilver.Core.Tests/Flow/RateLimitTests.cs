using QuickSilver.Core.Flow;
using QuickSilver.Core.Tests.Infrastructure;

namespace QuickSilver.Core.Tests.Flow;

public sealed class RateLimitTests
{
    private const double Rounding = 1e-3;

    [Fact]
    public void A_burst_passes_at_once_and_the_rest_at_the_rate()
    {
        var limit = new RateLimit(TimeSpan.Zero, perSecond: 10, burst: 5);
        Assert.True(limit.TryTake(TimeSpan.Zero, 5));
        Assert.False(limit.TryTake(TimeSpan.Zero, 1));
        Assert.Equal(TimeSpan.FromMilliseconds(100), limit.TimeUntil(TimeSpan.Zero, 1));
        Assert.False(limit.TryTake(TimeSpan.FromMilliseconds(99), 1));
        Assert.True(limit.TryTake(TimeSpan.FromMilliseconds(100), 1));
    }

    [Fact]
    public void A_fraction_of_one_a_second_is_a_rate()
    {
        var limit = new RateLimit(TimeSpan.Zero, perSecond: 0.25, burst: 1);
        Assert.True(limit.TryTake(TimeSpan.Zero, 1));
        int taken = 0;
        // Asked every 10 ms for 40 s: no fraction is lost by asking.
        for (int i = 1; i <= 4000; i++)
        {
            taken += limit.TryTake(TimeSpan.FromMilliseconds(10 * i), 1) ? 1 : 0;
        }

        Assert.Equal(10, taken);
    }

    [Fact]
    public void Credit_gained_before_a_change_of_rate_stays()
    {
        var limit = new RateLimit(TimeSpan.Zero, perSecond: 10, burst: 100);
        Assert.True(limit.TryTake(TimeSpan.Zero, 100));
        limit.SetRate(TimeSpan.FromSeconds(2), 1);
        Assert.Equal(23, limit.Available(TimeSpan.FromSeconds(5)), precision: 6);
    }

    [Fact]
    public void More_than_the_burst_is_never_given()
    {
        var limit = new RateLimit(TimeSpan.Zero, perSecond: 10, burst: 5);
        Assert.False(limit.TryTake(TimeSpan.FromDays(1), 6));
        Assert.Equal(TimeSpan.MaxValue, limit.TimeUntil(TimeSpan.FromDays(1), 6));
    }

    [Fact]
    public void An_older_instant_gains_and_loses_nothing()
    {
        var limit = new RateLimit(TimeSpan.FromSeconds(10), perSecond: 1, burst: 5);
        Assert.True(limit.TryTake(TimeSpan.FromSeconds(10), 5));
        Assert.Equal(0, limit.Available(TimeSpan.FromSeconds(3)));
        Assert.Equal(1, limit.Available(TimeSpan.FromSeconds(11)), precision: 6);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(-1)]
    [InlineData(double.NaN)]
    [InlineData(double.PositiveInfinity)]
    public void A_rate_or_burst_that_is_none_is_refused(double value)
    {
        Assert.Throws<ArgumentOutOfRangeException>(() => new RateLimit(TimeSpan.Zero, value, 1));
        Assert.Throws<ArgumentOutOfRangeException>(() => new RateLimit(TimeSpan.Zero, 1, value));
        Assert.Throws<ArgumentOutOfRangeException>(() => new RateLimit(TimeSpan.Zero, 1, 1).SetRate(TimeSpan.Zero, value));
    }

    [Fact]
    public void Between_any_two_times_at_most_a_burst_and_the_rate_pass()
    {
        Steps.Hold(steps =>
        {
            double rate = 0.3 + steps.Length * 7.7;
            double burst = 1 + steps.Length % 13;
            var limit = new RateLimit(TimeSpan.Zero, rate, burst);
            var now = TimeSpan.Zero;
            var taken = new List<(TimeSpan At, double Amount)>();
            foreach (int step in steps)
            {
                now += TimeSpan.FromTicks(step / 64 % 10_000_000 / (1 + step % 5 * 1000));
                double amount = step % 16 / 3.0;
                if (limit.TryTake(now, amount))
                {
                    taken.Add((now, amount));
                }

                Assert.InRange(limit.Available(now), -Rounding, burst);
            }

            for (int from = 0; from < taken.Count; from++)
            {
                double sum = 0;
                for (int to = from; to < taken.Count; to++)
                {
                    sum += taken[to].Amount;
                    Assert.True(sum <= burst + rate * (taken[to].At - taken[from].At).TotalSeconds + Rounding);
                }
            }
        });
    }

    [Fact]
    public void The_announced_wait_is_sufficient_and_not_much_too_long()
    {
        Steps.Hold(steps =>
        {
            double rate = Math.Pow(10, steps.Length % 10 - 1);
            var limit = new RateLimit(TimeSpan.Zero, rate, burst: 1000);
            var now = TimeSpan.Zero;
            foreach (int step in steps)
            {
                double amount = 0.01 + step % 1000;
                var wait = limit.TimeUntil(now, amount);
                // Below that, nine tenths of it, rounded, are less than a whole tick before the credit is there.
                if (wait > TimeSpan.FromTicks(25) && wait.TotalSeconds * rate > Rounding)
                {
                    Assert.False(limit.TryTake(now + wait * 0.9, amount));
                }

                now += wait;
                Assert.True(limit.TryTake(now, amount));
            }
        });
    }

    [Fact]
    public void A_sink_that_pays_afterwards_keeps_the_rate_but_for_one_turn()
    {
        Steps.Hold(steps =>
        {
            const double Rate = 1000;
            const double Burst = 300;
            var limit = new RateLimit(TimeSpan.Zero, Rate, Burst);
            var now = TimeSpan.Zero;
            double sum = 0;
            int largest = 0;
            foreach (int step in steps)
            {
                // Greedy: at the very instant at which it opens.
                now = limit.OpensAt(now);
                Assert.Equal(now, limit.OpensAt(now));
                int bytes = 1 + step % 500;
                Assert.True(sum <= Burst + Rate * now.TotalSeconds + Rounding);
                Assert.True(sum >= Rate * now.TotalSeconds - Rounding);
                limit.Charge(now, bytes);
                sum += bytes;
                largest = Math.Max(largest, bytes);
                Assert.True(sum <= Burst + largest + Rate * now.TotalSeconds + Rounding);
            }
        });
    }
}
