using System.Globalization;

namespace QuickSilver.Processes.Tests.Campaigns.Soak;

/// <summary>What a process held at one moment. Bytes are of its collector's heap or, from outside, of its anonymous pages.</summary>
internal readonly record struct HeldSample(long Bytes, int Descriptors, int Threads)
{
    /// <summary>Of a process that answers no questions, from the system.</summary>
    public static HeldSample OfProcess(int id)
    {
        string[] status = File.ReadAllLines($"/proc/{id}/status");
        return new HeldSample(
            1024 * Field(status, "RssAnon:"), Directory.GetFiles($"/proc/{id}/fd").Length, (int)Field(status, "Threads:"));
    }

    private static long Field(string[] status, string name)
    {
        string line = Array.Find(status, line => line.StartsWith(name, StringComparison.Ordinal))!;
        return long.Parse(line[name.Length..].Replace("kB", "", StringComparison.Ordinal).Trim(), CultureInfo.InvariantCulture);
    }
}
