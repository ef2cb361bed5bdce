namespace QuickSilver.Multicast.Recovery;

// How long a ring's rounds take, and how long to wait for one: the smoothed round trip and four times how much it varies (as TCP
// does), doubled while tokens are lost. On a lossy link every round in six may be lost in a ring of sixteen, so a
// fixed long wait would be most of the time.
internal sealed class RoundTimer(MulticastOptions options)
{
    private TimeSpan _began;
    private SmoothedTime _roundTrip;

    /// <summary>Zero before the first whole round.</summary>
    public TimeSpan Last { get; private set; }

    public TimeSpan Timeout { get; private set; } = options.TokenTimeout;

    /// <summary>Rounds in succession that did not come home.</summary>
    public int Timeouts { get; private set; }

    public TimeSpan ProbedAt { get; set; } = TimeSpan.MinValue / 2;

    public void Begin(TimeSpan now) => _began = now;

    public void End(TimeSpan now)
    {
        Timeouts = 0;
        Last = now - _began;
        _roundTrip.Add(Last);
        Timeout = Clamp(_roundTrip.Mean + (_roundTrip.Strays * 4));
    }

    public void OnTimeout()
    {
        Timeouts++;
        Timeout = Clamp(Timeout * 2);
    }

    /// <summary>The ring is another now.</summary>
    public void Forget()
    {
        Timeouts = 0;
        Timeout = options.TokenTimeout;
    }

    private TimeSpan Clamp(TimeSpan timeout) =>
        timeout < options.TokenTimeoutMin ? options.TokenTimeoutMin
        : timeout > options.TokenTimeoutMax ? options.TokenTimeoutMax
        : timeout;
}
