using System.Numerics;

namespace QuickSilver.Core.Diagnostics;

// How late alarms fire, in classes that double from one to the next. The papers explain their system by this figure (000, sections 4.3 and
// 4.4): a late alarm delays a token, and late tokens make all members keep more. Written by the core thread, read by any thread.
internal sealed class LatenessHistogram
{
    /// <summary>The first class is below 1 microsecond; the last has everything from about 8 s.</summary>
    public const int Classes = 24;

    private readonly long[] _counts = new long[Classes];
    private long _greatestTicks;
    private long _totalTicks;

    /// <summary>The lateness of all alarms together.</summary>
    public TimeSpan Total => TimeSpan.FromTicks(Volatile.Read(ref _totalTicks));

    public void Add(TimeSpan lateness)
    {
        long ticks = Math.Max(0, lateness.Ticks);
        _counts[ClassOf(ticks)]++;
        _totalTicks += ticks;
        if (ticks > _greatestTicks)
        {
            Volatile.Write(ref _greatestTicks, ticks);
        }
    }

    /// <summary>The alarms of a class: those less late than <see cref="LimitOf"/>, and not in an earlier class.</summary>
    public long CountOf(int number) => Volatile.Read(ref _counts[number]);

    public static TimeSpan LimitOf(int number) =>
        number == Classes - 1 ? TimeSpan.MaxValue : TimeSpan.FromMicroseconds(1L << number);

    /// <summary>The greatest lateness since the last call.</summary>
    public TimeSpan TakeGreatest() => TimeSpan.FromTicks(Interlocked.Exchange(ref _greatestTicks, 0));

    private static int ClassOf(long ticks) =>
        Math.Min(Classes - 1, 64 - BitOperations.LeadingZeroCount((ulong)(ticks / TimeSpan.TicksPerMicrosecond)));
}
