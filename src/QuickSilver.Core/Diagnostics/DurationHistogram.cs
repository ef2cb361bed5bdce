using System.Numerics;

namespace QuickSilver.Core.Diagnostics;

// How long something took, or how late it was, in classes that double from one to the next. A fixed array: to count a duration allocates
// nothing and takes no lock. The papers explain their system by such figures (000, sections 4.3 and 4.4): a late alarm delays a token, and
// late tokens make all members keep more. Written by the core thread, read by any thread.
internal sealed class DurationHistogram
{
    /// <summary>The first class is below 1 microsecond; the last has everything from about 4 s.</summary>
    public const int Classes = 24;

    private readonly long[] _counts = new long[Classes];
    private long _greatestTicks;
    private long _totalTicks;

    /// <summary>The sum of all durations.</summary>
    public TimeSpan Total => TimeSpan.FromTicks(Volatile.Read(ref _totalTicks));

    public void Add(TimeSpan duration)
    {
        long ticks = Math.Max(0, duration.Ticks);
        _counts[ClassOf(ticks)]++;
        _totalTicks += ticks;
        if (ticks > _greatestTicks)
        {
            Volatile.Write(ref _greatestTicks, ticks);
        }
    }

    /// <summary>The durations of a class: those less than <see cref="GetUpperBound"/>, and not in an earlier class.</summary>
    public long CountOf(int number) => Volatile.Read(ref _counts[number]);

    public static TimeSpan GetUpperBound(int number) =>
        number == Classes - 1 ? TimeSpan.MaxValue : TimeSpan.FromMicroseconds(1L << number);

    /// <summary>The greatest duration since the last call.</summary>
    public TimeSpan TakeGreatest() => TimeSpan.FromTicks(Interlocked.Exchange(ref _greatestTicks, 0));

    private static int ClassOf(long ticks) =>
        Math.Min(Classes - 1, 64 - BitOperations.LeadingZeroCount((ulong)(ticks / TimeSpan.TicksPerMicrosecond)));
}
