using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Processes.Tests.Harness;

// Where the build put the programs that the scenarios start: beside these tests' own output, under the same configuration.
internal static class Programs
{
    /// <summary>The folder of the repository.</summary>
    public static string Root => RepositoryRoot.Path;

    public static string Qsm { get; } = Locate("qsm");

    public static string ChurnNode { get; } = Locate("ChurnNode");

    public static string StopNode { get; } = Locate("StopNode");

    public static string StreamNode { get; } = Locate("StreamNode");

    private static string Locate(string program) =>
        Path.Combine(Root, "artifacts", "bin", program, new DirectoryInfo(AppContext.BaseDirectory).Name, program);
}
