namespace QuickSilver.Tests.Infrastructure;

// The folder of the repository, above the one from which the tests run.
internal static class RepositoryRoot
{
    public static string Path { get; } = Find();

    private static string Find()
    {
        var folder = new DirectoryInfo(AppContext.BaseDirectory);
        while (!File.Exists(System.IO.Path.Combine(folder.FullName, "QuickSilver.sln")))
        {
            folder = folder.Parent ?? throw new FileNotFoundException($"QuickSilver.sln is in no folder above {AppContext.BaseDirectory}.");
        }

        return folder.FullName;
    }
}
