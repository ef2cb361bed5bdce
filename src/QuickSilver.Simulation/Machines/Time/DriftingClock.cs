namespace QuickSilver.Simulation.Machines.Time;

// A machine's monotonic clock: exact until it is made to run fast or slow (F8), and never going back. What was gained or lost by
// then stays: no two machines agree on it anyway.
internal sealed class DriftingClock(VirtualTime time)
{
    private TimeSpan _trueOrigin;
    private TimeSpan _origin;

    /// <summary>How much passes here while one unit of true time does. Above zero; 1: exact.</summary>
    public double Rate
    {
        get;
        set
        {
            ArgumentOutOfRangeException.ThrowIfNegativeOrZero(value);
            (_origin, _trueOrigin) = (At(time.Now), time.Now);
            field = value;
        }
    } = 1;

    public TimeSpan At(TimeSpan trueTime) => _origin + Scale(trueTime - _trueOrigin, Rate);

    /// <summary>The true time in which so much passes here.</summary>
    public TimeSpan TrueLength(TimeSpan length) => Rate == 1 ? length : Scale(length, 1 / Rate) + TimeSpan.FromTicks(1);

    private static TimeSpan Scale(TimeSpan length, double by) => by == 1 ? length
        : length.Ticks * by < TimeSpan.MaxValue.Ticks ? TimeSpan.FromTicks((long)(length.Ticks * by))
        : TimeSpan.MaxValue;
}
