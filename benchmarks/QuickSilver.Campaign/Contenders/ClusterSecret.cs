namespace QuickSilver.Campaign.Contenders;

// A secret for the runs that are sealed, in a file that ends with this program.
internal static class ClusterSecret
{
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(30);
    private static readonly Lazy<string> File = new(Make);

    public static string Path => File.Value;

    /// <summary>A command line as others would write it.</summary>
    public static string Hide(string command) => File.IsValueCreated ? command.Replace(File.Value, "cluster.secret") : command;

    private static string Make()
    {
        var folder = Directory.CreateTempSubdirectory("campaign");
        AppDomain.CurrentDomain.ProcessExit += (_, _) => folder.Delete(recursive: true);
        string path = System.IO.Path.Combine(folder.FullName, "cluster.secret");
        using var shell = new Shell(Qsm.Executable, ["keys", "secret", "--out", path]);
        var ended = shell.Wait(Limit);
        return ended.Code == 0 ? path : throw new InvalidOperationException($"qsm keys: {ended.Reason}");
    }
}
