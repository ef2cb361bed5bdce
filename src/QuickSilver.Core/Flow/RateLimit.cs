using System.Diagnostics;

namespace QuickSilver.Core.Flow;

// A token bucket: credit grows with time at a rate that may be any fraction, up to a burst. What passes in a time t is at
// most burst + rate * t, plus one turn where a sink pulls and the limit is charged afterwards.
//
// What goes wrong elsewhere: refilling in ticks of an alarm makes the rate depend on the timer's lateness, and counting
// whole credits loses the fractions when asked often. Here credit is computed from the time that passed, whenever asked;
// so a late core thread loses nothing (up to the burst), and asking is free of effect.
[DebuggerDisplay("{_credit} of {Burst}, {PerSecond}/s")]
internal sealed class RateLimit
{
    // Far below one item or byte, far above the rounding of a double: a taker that comes at the very instant that
    // TimeUntil named must not be turned away. What it takes too much becomes debt, so it does not add up.
    private const double Rounding = 1e-6;

    private double _credit;
    private TimeSpan _countedTo;

    public RateLimit(TimeSpan now, double perSecond, double burst)
    {
        ThrowIfNotPositive(perSecond, nameof(perSecond));
        ThrowIfNotPositive(burst, nameof(burst));
        PerSecond = perSecond;
        Burst = burst;
        _credit = burst;
        _countedTo = now;
    }

    public double PerSecond { get; private set; }

    public double Burst { get; }

    /// <summary>From <paramref name="now"/> on credit grows at another rate; what was gained before stays.</summary>
    public void SetRate(TimeSpan now, double perSecond)
    {
        ThrowIfNotPositive(perSecond, nameof(perSecond));
        Refill(now);
        PerSecond = perSecond;
    }

    /// <summary>What can be taken now; negative while in debt.</summary>
    public double Available(TimeSpan now)
    {
        Refill(now);
        return _credit;
    }

    /// <summary>Takes exactly this much, or nothing. More than the burst is never given.</summary>
    public bool TryTake(TimeSpan now, double amount)
    {
        Refill(now);
        if (amount > _credit + Rounding)
        {
            return false;
        }

        _credit -= amount;
        return true;
    }

    /// <summary>How long until <see cref="TryTake"/> gives this much; TimeSpan.MaxValue if it never will.</summary>
    public TimeSpan TimeUntil(TimeSpan now, double amount)
    {
        Refill(now);
        if (amount <= _credit + Rounding)
        {
            return TimeSpan.Zero;
        }

        double ticks = Math.Ceiling((amount - _credit) / PerSecond * TimeSpan.TicksPerSecond);
        return amount > Burst || ticks >= long.MaxValue ? TimeSpan.MaxValue : TimeSpan.FromTicks((long)ticks);
    }

    /// <summary>The instant from which the limit is open, which it is while it is not in debt.</summary>
    public TimeSpan OpensAt(TimeSpan now)
    {
        var wait = TimeUntil(now, 0);
        return wait >= TimeSpan.MaxValue - now ? TimeSpan.MaxValue : now + wait;
    }

    /// <summary>Accounts for what was given while the limit was open; it may be in debt afterwards.</summary>
    public void Charge(TimeSpan now, double amount)
    {
        Refill(now);
        _credit -= amount;
    }

    private void Refill(TimeSpan now)
    {
        // A caller with an older instant than another had gains nothing, and loses nothing.
        if (now > _countedTo)
        {
            double seconds = (double)(now - _countedTo).Ticks / TimeSpan.TicksPerSecond;
            _credit = Math.Min(Burst, _credit + seconds * PerSecond);
            _countedTo = now;
        }
    }

    private static void ThrowIfNotPositive(double value, string name)
    {
        if (!(value > 0) || !double.IsFinite(value))
        {
            throw new ArgumentOutOfRangeException(name, value, "Must be a finite number greater than zero.");
        }
    }
}
