using QuickSilver.Transfers;

namespace QuickSilver.Tests.Transfers;

public sealed class RetryPauseTests
{
    private static readonly TimeSpan Even = TimeSpan.FromMilliseconds(100);

    private RetryPause _pause;

    [Theory]
    [InlineData(5, 100)]
    [InlineData(6, 200)]
    [InlineData(8, 800)]
    [InlineData(50, 5000)]
    public void Each_pause_after_the_fifth_attempt_is_twice_as_long_up_to_the_longest(int attempts, int milliseconds)
    {
        for (int i = 0; i < attempts; i++)
        {
            _pause.OnAttempt();
        }

        var length = TimeSpan.FromMilliseconds(milliseconds);
        Assert.False(_pause.IsOver(length - TimeSpan.FromTicks(1)));
        Assert.True(_pause.IsOver(length));
    }

    [Fact]
    public void An_answer_in_vain_is_requested_again_after_a_multiple_of_the_time_that_it_took()
    {
        _pause.OnUseless(TimeSpan.FromSeconds(1));
        Assert.False(_pause.IsOver(TimeSpan.FromSeconds(19)));
        Assert.True(_pause.IsOver(TimeSpan.FromSeconds(20)));

        _pause.OnUseless(TimeSpan.FromHours(1));
        Assert.True(_pause.IsOver(TimeSpan.FromMinutes(1)));

        _pause.EndUseless();
        Assert.True(_pause.IsOver(Even));
    }

    [Fact]
    public void A_node_that_made_progress_begins_with_short_pauses_again()
    {
        for (int i = 0; i < 10; i++)
        {
            _pause.OnAttempt();
        }

        Assert.False(_pause.IsOver(Even));
        _pause.OnProgress();
        Assert.Equal(0, _pause.Attempts);
        Assert.True(_pause.IsOver(Even));
    }
}
