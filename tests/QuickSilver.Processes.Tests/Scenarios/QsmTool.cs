namespace QuickSilver.Processes.Tests.Scenarios;

// Where the build put the tool: beside these tests' own output, under the same configuration.
internal static class QsmTool
{
    public static string Path { get; } = Locate();

    private static string Locate()
    {
        var here = new DirectoryInfo(AppContext.BaseDirectory);
        var root = here;
        while (!File.Exists(System.IO.Path.Combine(root.FullName, "QuickSilver.sln")))
        {
            root = root.Parent ?? throw new FileNotFoundException("QuickSilver.sln is in no folder above " + here.FullName);
        }

        return System.IO.Path.Combine(root.FullName, "artifacts", "bin", "qsm", here.Name, "qsm");
    }
}
