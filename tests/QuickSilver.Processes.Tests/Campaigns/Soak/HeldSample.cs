using System.Globalization;
using QuickSilver.Processes.Tests.Campaigns.Servers;
using QuickSilver.Processes.Tests.Lab.Machine;

namespace QuickSilver.Processes.Tests.Campaigns.Soak;

/// <summary>What a process held at one moment. Bytes are of its collector's heap or, from outside, of its anonymous pages.</summary>
internal readonly record struct HeldSample(long Bytes, int Descriptors, int Threads)
{
    /// <summary>Of a process that reports nothing, from the system.</summary>
    public static HeldSample OfProcess(int id)
    {
        string[] status = File.ReadAllLines($"/proc/{id}/status");
        return new HeldSample(
            1024 * Field(status, "RssAnon:"), Directory.GetFiles($"/proc/{id}/fd").Length, (int)Field(status, "Threads:"));
    }

    /// <summary>Of a program that reports what it holds to this file when it gets signal USR1.</summary>
    public static HeldSample OfReport(LoggedProcess process, string path)
    {
        File.Delete(path);
        process.Send(ProcessSignal.User1);
        ServersRig.Await("the footprint of the service", () => File.Exists(path));
        string[] words = File.ReadAllText(path).Split(' ');
        return new HeldSample(SoakProcess.Number(words[1]), (int)SoakProcess.Number(words[2]), (int)SoakProcess.Number(words[3]));
    }

    private static long Field(string[] status, string name)
    {
        string line = Array.Find(status, line => line.StartsWith(name, StringComparison.Ordinal))!;
        return long.Parse(line[name.Length..].Replace("kB", "", StringComparison.Ordinal).Trim(), CultureInfo.InvariantCulture);
    }
}
