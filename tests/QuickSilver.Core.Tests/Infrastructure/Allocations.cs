namespace QuickSilver.Core.Tests.Infrastructure;

internal static class Allocations
{
    /// <summary>What this thread allocates in <paramref name="round"/> after it ran once to warm up.</summary>
    public static long After(Action round)
    {
        round();
        long before = GC.GetAllocatedBytesForCurrentThread();
        round();
        return GC.GetAllocatedBytesForCurrentThread() - before;
    }
}
