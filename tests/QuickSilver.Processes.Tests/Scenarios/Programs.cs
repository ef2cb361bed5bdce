namespace QuickSilver.Processes.Tests.Scenarios;

// Where the build put the programs that the scenarios start: beside these tests' own output, under the same configuration.
internal static class Programs
{
    public static string Qsm { get; } = Locate("qsm");

    public static string ChurnNode { get; } = Locate("ChurnNode");

    public static string StreamNode { get; } = Locate("StreamNode");

    private static string Locate(string program)
    {
        var here = new DirectoryInfo(AppContext.BaseDirectory);
        var root = here;
        while (!File.Exists(Path.Combine(root.FullName, "QuickSilver.sln")))
        {
            root = root.Parent ?? throw new FileNotFoundException("QuickSilver.sln is in no folder above " + here.FullName);
        }

        return Path.Combine(root.FullName, "artifacts", "bin", program, here.Name, program);
    }
}
