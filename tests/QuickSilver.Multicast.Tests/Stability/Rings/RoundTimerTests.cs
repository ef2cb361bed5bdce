using QuickSilver.Multicast.Stability.Rounds;

namespace QuickSilver.Multicast.Tests.Stability.Rings;

// How long a leader waits for its token, where members or the leader itself stand still.
public sealed class RoundTimerTests
{
    private readonly MulticastOptions _options = new() { ClusterId = 1 };
    private readonly RoundTimer _timer;
    private TimeSpan _now = TimeSpan.FromSeconds(100);
    private long _round;

    public RoundTimerTests()
    {
        _timer = new RoundTimer(_options);
        for (int i = 0; i < 50; i++)
        {
            Round(Ms(4));
        }
    }

    [Fact]
    public void After_a_pause_was_reported_the_timeout_is_what_was_measured_before_and_not_what_lost_tokens_made_of_it()
    {
        var measured = _timer.Timeout;
        Begin();
        LoseTokens(4);
        Assert.Equal(measured * 16, _timer.Timeout);

        Assert.True(_timer.Excuse());
        Assert.Equal((measured, 0), (_timer.Timeout, _timer.Timeouts));
    }

    [Fact]
    public void A_round_of_two_seconds_that_met_a_pause_does_not_become_the_timeout()
    {
        var measured = _timer.Timeout;
        Begin();
        _now += TimeSpan.FromSeconds(2);
        _timer.Excuse();
        _timer.End(_now);
        Assert.Equal(measured, _timer.Timeout);

        Round(Ms(4));
        Assert.Equal(measured, _timer.Timeout);
    }

    [Fact]
    public void A_round_of_two_seconds_that_met_no_pause_does()
    {
        Round(TimeSpan.FromSeconds(2));
        Assert.True(_timer.Timeout >= TimeSpan.FromSeconds(2));
    }

    [Fact]
    public void Tokens_of_rounds_before_the_pause_that_return_late_do_not_lengthen_the_timeout()
    {
        var measured = _timer.Timeout;
        Begin();
        long first = _round;
        LoseTokens(3);
        _now += TimeSpan.FromSeconds(3);
        _timer.Excuse();
        for (long round = first; round < _round; round++)
        {
            _timer.OnLate(round, _now);
        }

        Assert.Equal(measured, _timer.Timeout);
    }

    [Fact]
    public void Claims_of_pauses_without_a_measured_round_between_them_excuse_once()
    {
        Begin();
        Assert.True(_timer.Excuse());
        LoseTokens(1);
        Assert.False(_timer.Excuse());
        LoseTokens(2);
        Assert.False(_timer.Excuse());
        Assert.Equal(3, _timer.Timeouts);
    }

    // Where rounds are longer than the longest timeout, only tokens that return late show how long to wait.
    [Fact]
    public void Endless_claims_of_pauses_do_not_keep_a_slow_ring_from_learning_how_long_its_rounds_are()
    {
        var length = _options.TokenTimeoutMax * 3;
        for (int i = 0; i < 12; i++)
        {
            Begin();
            long round = _round;
            _timer.Excuse();
            LoseTokens(1);
            _now += length;
            _timer.OnLate(round, _now);
        }

        Assert.True(_timer.Timeout >= length, $"It waits {_timer.Timeout}.");
    }

    [Fact]
    public void The_time_for_which_this_node_stood_still_is_no_part_of_a_round()
    {
        var measured = _timer.Timeout;
        Begin();
        _now += TimeSpan.FromSeconds(8);
        var wait = _timer.OnPause(TimeSpan.FromSeconds(8) - Ms(1), -TimeSpan.FromSeconds(8) + measured, _now);
        Assert.Equal(_options.TokenTimeoutMin, wait);
        _now += Ms(2);
        _timer.End(_now);
        Assert.Equal(Ms(3), _timer.Last);
        Assert.Equal(measured, _timer.Timeout);
    }

    [Fact]
    public void A_token_whose_time_was_over_is_waited_for_once_so_that_what_came_is_read()
    {
        Begin();
        _now += Ms(200);
        Assert.Equal(_options.TokenTimeoutMin, _timer.OnPause(Ms(60), -Ms(100), _now));
        _now += Ms(70);
        Assert.Equal(-Ms(40), _timer.OnPause(Ms(60), -Ms(100), _now));
        Begin();
        _now += Ms(200);
        Assert.Equal(_options.TokenTimeoutMin, _timer.OnPause(Ms(60), -Ms(100), _now));
    }

    [Fact]
    public void A_round_that_began_in_the_long_step_itself_does_not_begin_in_the_future()
    {
        Begin();
        _now += Ms(1);
        _timer.OnPause(Ms(500), Ms(9), _now);
        Assert.Equal(_now, _timer.Began);
    }

    private void Begin() => _timer.Begin(++_round, _now);

    private void Round(TimeSpan length)
    {
        Begin();
        _now += length;
        _timer.End(_now);
    }

    private void LoseTokens(int times)
    {
        for (int i = 0; i < times; i++)
        {
            _now += _timer.Timeout;
            _timer.OnTimeout();
            Begin();
        }
    }

    private static TimeSpan Ms(double milliseconds) => TimeSpan.FromMilliseconds(milliseconds);
}
