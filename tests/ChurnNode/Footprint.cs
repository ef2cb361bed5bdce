using System.Globalization;

namespace ChurnNode;

/// <summary>What this process holds: of the collector's heap after a full collection, and of the system.</summary>
internal readonly record struct Footprint(long HeapBytes, int Descriptors, int Threads)
{
    public static Footprint Measure()
    {
        GC.Collect();
        GC.WaitForPendingFinalizers();
        GC.Collect();
        int descriptors = Directory.GetFiles("/proc/self/fd").Length;
        int threads = Directory.GetDirectories("/proc/self/task").Length;
        return new Footprint(GC.GetTotalMemory(forceFullCollection: true), descriptors, threads);
    }

    public override string ToString() => string.Create(CultureInfo.InvariantCulture, $"footprint {HeapBytes} {Descriptors} {Threads}");
}
