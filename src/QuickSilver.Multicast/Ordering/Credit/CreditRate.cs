namespace QuickSilver.Multicast.Ordering.Credit;

// The rate at which a member gives credit, measured over the last 2 to 4 s: long enough for many steps of a reader that is as slow as some
// messages a second, and short enough to follow a change.
internal readonly record struct CreditRate
{
    private static readonly TimeSpan Span = TimeSpan.FromSeconds(2);

    private readonly (long Through, TimeSpan At) _before;
    private readonly (long Through, TimeSpan At) _lately;

    private CreditRate((long Through, TimeSpan At) before, (long Through, TimeSpan At) lately) => (_before, _lately) = (before, lately);

    public static CreditRate Begin(long through, TimeSpan now) => new((through, now), (through, now));

    /// <summary>The rate with a credit that was given now.</summary>
    public CreditRate With(long through, TimeSpan now) => now - _lately.At >= Span ? new CreditRate(_lately, (through, now)) : this;

    /// <summary>Messages a second.</summary>
    public double Of(long through, TimeSpan now) =>
        now > _before.At ? Math.Max(through - _before.Through, 0) / (now - _before.At).TotalSeconds : 0;
}
