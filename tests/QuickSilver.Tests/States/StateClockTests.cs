using QuickSilver.States;
using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Tests.States;

public sealed class StateClockTests
{
    private readonly ManualTime _time = new();
    private readonly StateClock _clock;

    public StateClockTests() => _clock = new StateClock(_time);

    [Fact]
    public void A_number_raises_the_clock_up_to_the_limit_and_is_taken_up_to_the_margin()
    {
        _clock.See(StateClock.First);
        Assert.Equal(StateClock.First + 1, _clock.Next(0));
        _clock.See(StateClock.First + StateClock.Margin);
        Assert.Equal(StateClock.First + 2, _clock.Next(0));
        Assert.True(_clock.IsPlausible(StateClock.First + StateClock.Margin));
        Assert.False(_clock.IsPlausible(StateClock.First + StateClock.Margin + 1));
        _time.Advance(TimeSpan.FromSeconds(10));
        long limit = StateClock.First + (10 * StateClock.PerSecond);
        Assert.Equal(limit, _clock.Limit);
        _clock.See(limit);
        Assert.Equal(limit + 1, _clock.Next(0));
    }

    [Fact]
    public void A_key_above_the_clock_is_changed_above_its_own_number()
    {
        long above = StateClock.First + StateClock.Margin;
        Assert.Equal(above + 1, _clock.Next(above));
        Assert.Equal(above + 2, _clock.Next(above));
        Assert.InRange(_clock.Next(0), 1, 4);
    }

    [Fact]
    public void The_age_is_taken_from_others_and_never_falls()
    {
        _time.Advance(TimeSpan.FromSeconds(5));
        _clock.OnAge(1000);
        Assert.Equal(1000, _clock.AgeSeconds);
        _time.Advance(TimeSpan.FromSeconds(5));
        _clock.OnAge(7);
        Assert.Equal(1005, _clock.AgeSeconds);
    }

    // Whatever age others make up, numbers at the limit stay far below those that cannot be written.
    [Fact]
    public void The_highest_limit_is_below_the_highest_number()
    {
        _clock.OnAge(int.MaxValue);
        _time.Advance(TimeSpan.FromDays(1));
        Assert.Equal(int.MaxValue, _clock.AgeSeconds);
        Assert.InRange(_clock.Limit + StateClock.Margin, 0, StateStamp.MaxCounter / 256);
    }
}
