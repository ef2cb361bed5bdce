using QuickSilver.Campaign.Contenders.Testbeds;

namespace QuickSilver.Campaign.Contenders;

// `qsm perf` as its user has it, in the same namespaces as the peers, its membership embedded.
internal static class Qsm
{
    /// <summary>Beside this program's own output, under the same configuration.</summary>
    public static readonly string Executable = Path.GetFullPath(Path.Combine(
        AppContext.BaseDirectory, "..", "..", "qsm", new DirectoryInfo(AppContext.BaseDirectory).Name, "qsm"));

    /// <summary>What a run may take beyond its seconds: starting, joining, opening thousands of topics, warming up, draining.</summary>
    public static readonly TimeSpan Overhead = TimeSpan.FromSeconds(90);

    private static int _topics;

    public static bool IsBuilt => File.Exists(Executable);

    public static string NewTopic() => $"campaign-{Environment.ProcessId}-{++_topics}";

    public static Shell Start(ITestbed testbed, int node, string role, string topic, params IEnumerable<string> options) =>
        testbed.Start(node, [Executable, "perf", role, topic, "--interface", testbed.Address(node), .. Security(options), .. options]);

    // Campaigns are about speed: in plain, unless a row says otherwise.
    private static string[] Security(IEnumerable<string> options) => options.Contains("--security") ? [] : ["--security", "none"];
}
