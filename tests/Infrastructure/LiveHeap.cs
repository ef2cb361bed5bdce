namespace QuickSilver.Tests.Infrastructure;

// What lives on the collector's heap. GC.GetTotalMemory collects until its figure changes by less than a twentieth, which on the heap of a
// test run is more than what is measured; and what has a finalizer takes two collections.
internal static class LiveHeap
{
    private const int Collections = 3;

    public static long Bytes()
    {
        for (int i = 0; i < Collections; i++)
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
        }

        GC.Collect();
        return GC.GetTotalMemory(forceFullCollection: false);
    }
}
