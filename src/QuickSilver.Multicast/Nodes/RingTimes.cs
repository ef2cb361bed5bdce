using QuickSilver.Core.Diagnostics;

namespace QuickSilver.Multicast.Nodes;

// Durations by the level of a ring. Written by the core thread, read by any thread.
internal sealed class RingTimes
{
    /// <summary>The last level stands for all above it too. Four levels of rings of 25 seats have room for 390,625 members.</summary>
    public const int Levels = 4;

    private readonly DurationHistogram?[] _levels = new DurationHistogram?[Levels];

    public void Add(int level, TimeSpan duration) => (_levels[Math.Min(level, Levels - 1)] ??= new DurationHistogram()).Add(duration);

    /// <summary>The durations of a level; null before the first.</summary>
    public DurationHistogram? At(int level) => Volatile.Read(ref _levels[level]);
}
