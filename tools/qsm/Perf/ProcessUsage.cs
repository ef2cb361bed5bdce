using System.Diagnostics;

namespace QuickSilver.Tool.Perf;

// What the process has used so far. Two of them bound a measured stretch.
internal sealed record ProcessUsage(long AtTicks, long AllocatedBytes, TimeSpan Cpu, int Gen0, int Gen1, int Gen2, TimeSpan GcPause)
{
    public static ProcessUsage Now() => new(
        Stopwatch.GetTimestamp(),
        GC.GetTotalAllocatedBytes(precise: true),
        System.Environment.CpuUsage.TotalTime,
        GC.CollectionCount(0),
        GC.CollectionCount(1),
        GC.CollectionCount(2),
        GC.GetTotalPauseDuration());

    public static long PeakResidentBytes()
    {
        using var self = Process.GetCurrentProcess();
        return self.PeakWorkingSet64;
    }
}
