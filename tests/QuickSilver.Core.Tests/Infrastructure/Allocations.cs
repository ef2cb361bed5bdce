namespace QuickSilver.Core.Tests.Infrastructure;

internal static class Allocations
{
    // A collection, from any cause, counts what is left of a thread's allocation context, up to 8 KB, as allocated by that
    // thread: with busy threads beside it one figure in ten is too large. What a round allocates itself is in all of them.
    public const int Tries = 5;

    /// <summary>What this thread allocates in <paramref name="round"/> after it ran once to warm up; it runs until it allocates
    /// nothing, and some times at most.</summary>
    public static long After(Action round)
    {
        round();
        return Of(round);
    }

    /// <summary>As <see cref="After"/>, without a round to warm up.</summary>
    public static long Of(Action round)
    {
        long least = long.MaxValue;
        for (int i = 0; i < Tries && least > 0; i++)
        {
            long before = GC.GetAllocatedBytesForCurrentThread();
            round();
            least = Math.Min(least, GC.GetAllocatedBytesForCurrentThread() - before);
        }

        return least;
    }
}
