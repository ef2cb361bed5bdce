namespace QuickSilver.Multicast.Stability;

// Measures how long the rounds of a ring take, and computes how long to wait for one: the smoothed round trip plus four times its mean
// deviation (as in TCP, RFC 6298), doubled while tokens are lost. On a lossy link, every sixth round of a ring of sixteen may be lost, so
// a fixed long wait would take most of the time. A token that returns after its round was given up shows that rounds take longer than
// estimated. Without that, if rounds took longer than the longest wait, none would ever be completed.
internal sealed class RoundTimer(MulticastOptions options)
{
    private const int RoundsTimed = 16;

    // When the last rounds began, by their numbers.
    private readonly TimeSpan[] _began = new TimeSpan[RoundsTimed];
    private long _round;
    private SmoothedTime _roundTrip;

    /// <summary>When the last round began.</summary>
    public TimeSpan Began => _began[_round % RoundsTimed];

    /// <summary>The duration of the last round; zero before the first.</summary>
    public TimeSpan Last { get; private set; }

    public TimeSpan Timeout { get; private set; } = options.TokenTimeout;

    /// <summary>The number of consecutive rounds whose token did not return.</summary>
    public int Timeouts { get; private set; }

    public TimeSpan ProbedAt { get; set; } = TimeSpan.MinValue / 2;

    /// <summary>How long to wait until the next round while something is open that did not change in so many rounds.</summary>
    public TimeSpan OpenInterval(int unchangedRounds)
    {
        if (options.TokenIntervalFixed is { } steady)
        {
            return steady;
        }

        var interval = options.TokenIntervalActive * (1 << Math.Min(unchangedRounds, 8));
        return interval < options.TokenIntervalWaiting ? interval : options.TokenIntervalWaiting;
    }

    public void Begin(long round, TimeSpan now)
    {
        _round = round;
        _began[round % RoundsTimed] = now;
    }

    public void End(TimeSpan now)
    {
        Timeouts = 0;
        Last = now - _began[_round % RoundsTimed];
        _roundTrip.Add(Last);
        Timeout = Clamp(_roundTrip.Mean + (_roundTrip.MeanDeviation * 4));
        Allow(Last);
    }

    /// <summary>The token of a round that was given up has returned.</summary>
    public void OnLate(long round, TimeSpan now)
    {
        if (round > 0 && round < _round && round > _round - RoundsTimed)
        {
            Allow(now - _began[round % RoundsTimed]);
        }
    }

    public void OnTimeout()
    {
        Timeouts++;
        var doubled = Clamp(Timeout * 2);
        Timeout = doubled > Timeout ? doubled : Timeout;
    }

    /// <summary>The members of the ring have changed.</summary>
    public void Reset()
    {
        Timeouts = 0;
        Timeout = options.TokenTimeout;
    }

    // The timeout exceeds its maximum only if rounds were seen to take longer.
    private void Allow(TimeSpan round)
    {
        if (round * 2 > options.TokenTimeoutMax && round * 2 > Timeout)
        {
            Timeout = round * 2;
        }
    }

    private TimeSpan Clamp(TimeSpan timeout) =>
        timeout < options.TokenTimeoutMin ? options.TokenTimeoutMin
        : timeout > options.TokenTimeoutMax ? options.TokenTimeoutMax
        : timeout;
}
