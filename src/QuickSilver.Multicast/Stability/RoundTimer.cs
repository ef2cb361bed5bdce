namespace QuickSilver.Multicast.Stability;

// How long a ring's rounds take, and how long to wait for one: the smoothed round trip and four times how much it varies (as TCP
// does), doubled while tokens are lost. On a lossy link every round in six may be lost in a ring of sixteen, so a
// fixed long wait would be most of the time. A token that comes home after its round was given up tells that rounds take longer
// than was thought: without that, where they take longer than the longest wait, none would ever be completed.
internal sealed class RoundTimer(MulticastOptions options)
{
    private const int RoundsTimed = 16;

    // When the last rounds began, by their numbers.
    private readonly TimeSpan[] _began = new TimeSpan[RoundsTimed];
    private long _round;
    private SmoothedTime _roundTrip;

    /// <summary>Zero before the first whole round.</summary>
    public TimeSpan Last { get; private set; }

    public TimeSpan Timeout { get; private set; } = options.TokenTimeout;

    /// <summary>Rounds in succession that did not come home.</summary>
    public int Timeouts { get; private set; }

    public TimeSpan ProbedAt { get; set; } = TimeSpan.MinValue / 2;

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
        Timeout = Clamp(_roundTrip.Mean + (_roundTrip.Strays * 4));
        Allow(Last);
    }

    /// <summary>The token of a round that was given up came home.</summary>
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

    /// <summary>The ring is another now.</summary>
    public void Forget()
    {
        Timeouts = 0;
        Timeout = options.TokenTimeout;
    }

    // Longer than the longest wait only where rounds were seen to need it.
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
