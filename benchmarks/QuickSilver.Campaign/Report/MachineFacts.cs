using System.Runtime.InteropServices;

namespace QuickSilver.Campaign.Report;

// What a reader must know of the machine to read a figure; nothing that names it.
internal static class MachineFacts
{
    public static IEnumerable<string> Lines()
    {
        yield return $"{Environment.ProcessorCount} cores{Cpu()}, {GC.GetGCMemoryInfo().TotalAvailableMemoryBytes >> 30} GiB";
        yield return $"{RuntimeInformation.OSDescription}, {RuntimeInformation.FrameworkDescription}";
        yield return $"net.core.rmem_max {Read("/proc/sys/net/core/rmem_max")}, wmem_max {Read("/proc/sys/net/core/wmem_max")}";
    }

    public static string LoadAverage() => string.Join(' ', Read("/proc/loadavg").Split(' ').Take(3));

    private static string Cpu()
    {
        string? model = File.Exists("/proc/cpuinfo")
            ? File.ReadLines("/proc/cpuinfo").FirstOrDefault(line => line.StartsWith("model name", StringComparison.Ordinal))
            : null;
        return model is null ? "" : $" ({model[(model.IndexOf(':') + 1)..].Trim()})";
    }

    private static string Read(string file) => File.Exists(file) ? File.ReadAllText(file).Trim() : "unknown";
}
