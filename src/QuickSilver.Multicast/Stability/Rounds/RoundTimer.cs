using System.Numerics;
using QuickSilver.Core.Environment;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Pacing;

namespace QuickSilver.Multicast.Stability.Rounds;

// Measures how long the rounds of a ring take, and computes how long to wait for one: the smoothed round trip plus four times its mean
// deviation (as in TCP, RFC 6298), doubled while tokens are lost. On a lossy link, every sixth round of a ring of sixteen may be lost, so
// a fixed long wait would take most of the time. A token that returns after its round was given up shows that rounds take longer than
// estimated. Without that, if rounds took longer than the longest wait, none would ever be completed.
//
// A round that met a pause, of a member that reports it or of this node, is no measure: it is excused, and the timeout is again what was
// measured before. A member that reports pauses all the time excuses every second round at most, so it cannot keep rounds from being
// measured, or lost ones from being counted.
//
// With tokens at a fixed rate, a result would wait half an interval at each level for the token of the ring above. So each ring keeps time
// with the one above it (000, section 2, has one token start the other): its round begins so long before the next visit of the token above
// that its result is new then. A ring that hears nothing from above keeps its own time.
internal sealed class RoundTimer(NodeOptions options)
{
    private const int RoundsTimed = 16;
    private const int FewLost = 2;

    // When the last rounds began, by their numbers.
    private readonly TimeSpan[] _began = new TimeSpan[RoundsTimed];
    private long _round;
    private SmoothedTime _roundTrip;
    // The timeout by what was measured, without what lost tokens add.
    private TimeSpan _measured = options.TokenTimeout;
    // Of the last 16 rounds, those whose token did not return in time: a bit each, the latest lowest.
    private ushort _lost;
    // The last round that was excused, and whether one has ended since that was not.
    private long _excusedThrough;
    private bool _mayExcuse = true;
    // The last round that was given more time because this node stood still.
    private long _prolonged;
    // When the next round is to begin so that it ends before the ring above asks; in the past if that is not known.
    private TimeSpan _aligned;

    /// <summary>When the last round began.</summary>
    public TimeSpan Began => _began[_round % RoundsTimed];

    /// <summary>The duration of the last round; zero before the first.</summary>
    public TimeSpan Last { get; private set; }

    public TimeSpan Timeout { get; private set; } = options.TokenTimeout;

    /// <summary>The number of consecutive rounds whose token did not return.</summary>
    public int Timeouts { get; private set; }

    /// <summary>Whether tokens were lost of late, and not only once.</summary>
    public bool LosesTokens => BitOperations.PopCount(_lost) >= FewLost;

    /// <summary>When the last round has visited all members.</summary>
    public TimeSpan HeardAllAt { get; set; }

    public TimeSpan ProbedAt { get; set; } = TimeSpan.MinValue / 2;

    /// <summary>Whether rounds follow each other at a fixed rate.</summary>
    public bool IsSteady => options.Experiments.TokenInterval is not null;

    // A round that is not over in time reports to the ring above what the one before has found, so this is long.
    private TimeSpan Lead => ((_roundTrip.Mean + (_roundTrip.MeanDeviation * 4)) * 2) + options.TokenIntervalWaiting;

    /// <summary>How long to wait until the next round while something is open that did not change in so many rounds.</summary>
    public TimeSpan OpenInterval(int unchangedRounds, TimeSpan now)
    {
        if (IsSteady)
        {
            return SteadyInterval(now);
        }

        var interval = options.TokenIntervalActive * (1 << Math.Min(unchangedRounds, 8));
        return interval < options.TokenIntervalWaiting ? interval : options.TokenIntervalWaiting;
    }

    /// <summary>How long to wait until the next round while nothing is open.</summary>
    /// <param name="isResting">Whether nothing was open for long.</param>
    /// <param name="now">The current time.</param>
    public TimeSpan IdleInterval(bool isResting, TimeSpan now) =>
        IsSteady ? SteadyInterval(now) : isResting ? options.TokenIntervalResting : options.TokenIntervalIdle;

    /// <summary>
    /// The token of the ring above is here, or begins its round here, and comes again after one interval. Returns how long to wait until
    /// the next round of this ring. For tokens at a fixed rate.
    /// </summary>
    public TimeSpan Align(TimeSpan now)
    {
        var interval = options.Experiments.TokenInterval!.Value;
        var wait = Lead < interval / 2 ? interval - Lead : interval / 2;
        _aligned = now + wait;
        return wait;
    }

    public void Begin(long round, TimeSpan now)
    {
        _round = round;
        _began[round % RoundsTimed] = now;
    }

    public void End(TimeSpan now)
    {
        Timeouts = 0;
        _lost <<= 1;
        Last = now - _began[_round % RoundsTimed];
        if (_round <= _excusedThrough)
        {
            Timeout = _measured;
            return;
        }

        _mayExcuse = true;
        _roundTrip.Add(Last);
        Timeout = _measured = Clamp(_roundTrip.Mean + (_roundTrip.MeanDeviation * 4));
        Allow(Last);
    }

    /// <summary>
    /// A member of the ring has stood still in the rounds up to this one. Returns false if that is not to be accepted again: no round was
    /// measured since the last time.
    /// </summary>
    public bool Excuse()
    {
        if (!_mayExcuse)
        {
            return false;
        }

        _mayExcuse = false;
        _excusedThrough = _round;
        Timeouts = 0;
        Timeout = _measured;
        return true;
    }

    /// <summary>
    /// This node has stood still for so long while a round was under way, of which <paramref name="left"/> was left to wait. Returns how
    /// long to wait from now on: as long as before, and the first time in a round so long that what came is read.
    /// </summary>
    public TimeSpan OnPause(TimeSpan length, TimeSpan left, TimeSpan now)
    {
        for (int i = 0; i < RoundsTimed; i++)
        {
            _began[i] = Pause.LeaveOut(length, _began[i], now);
        }

        ProbedAt = Pause.LeaveOut(length, ProbedAt, now);
        HeardAllAt = Pause.LeaveOut(length, HeardAllAt, now);
        Excuse();
        left += length;
        bool isProlonged = _prolonged == _round;
        _prolonged = _round;
        return left < options.TokenTimeoutMin && !isProlonged ? options.TokenTimeoutMin : left;
    }

    /// <summary>The token of a round that was given up has returned.</summary>
    public void OnLate(long round, TimeSpan now)
    {
        if (round > _excusedThrough && round < _round && round > _round - RoundsTimed)
        {
            Allow(now - _began[round % RoundsTimed]);
        }
    }

    public void OnTimeout()
    {
        Timeouts++;
        _lost = (ushort)((_lost << 1) | 1);
        var doubled = Clamp(Timeout * 2);
        Timeout = doubled > Timeout ? doubled : Timeout;
    }

    /// <summary>The members of the ring have changed.</summary>
    public void Reset()
    {
        Timeouts = 0;
        _lost = 0;
        Timeout = _measured = options.TokenTimeout;
    }

    // The timeout exceeds its maximum only if rounds were seen to take longer.
    private void Allow(TimeSpan round)
    {
        if (round * 2 > options.TokenTimeoutMax && round * 2 > Timeout)
        {
            Timeout = _measured = round * 2;
        }
    }

    private TimeSpan SteadyInterval(TimeSpan now)
    {
        var interval = options.Experiments.TokenInterval!.Value;
        var due = _aligned > now ? _aligned : _round == 0 ? now + interval : Began + interval;
        return due > now ? due - now : TimeSpan.Zero;
    }

    private TimeSpan Clamp(TimeSpan timeout) =>
        timeout < options.TokenTimeoutMin ? options.TokenTimeoutMin
        : timeout > options.TokenTimeoutMax ? options.TokenTimeoutMax
        : timeout;
}
