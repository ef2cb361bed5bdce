namespace QuickSilver.Packages.Tests.Infrastructure;

// The programs in the folder Programs, as strangers write them: each with a project of its own that references packages, in one solution
// that is built once.
public sealed class BuiltPrograms
{
    private readonly Feed _feed;
    private readonly string _folder;

    public BuiltPrograms(Feed feed)
    {
        _feed = feed;
        _folder = feed.NewcomersFolder("twelve");
        foreach (string name in Names)
        {
            Write(_folder, name);
        }

        // The compiler ahead of time builds its program itself.
        var projects = Names.Where(static name => name != AheadOfTime).Select(name => $"""  <Project Path="{name}/{name}.csproj" />""");
        File.WriteAllText(Path.Combine(_folder, "Twelve.slnx"), $"<Solution>\n{string.Join('\n', projects)}\n</Solution>\n");
        DotnetCommand.Dotnet(_folder, "build", "Twelve.slnx", "-warnaserror");
    }

    public const string AheadOfTime = "AheadOfTime";

    /// <summary>The folder with their sources, in the repository.</summary>
    public static string Sources { get; } = Path.Combine(Feed.Root, "tests", "QuickSilver.Packages.Tests", "Programs");

    public static IReadOnlyList<string> Names { get; } =
        [.. Directory.EnumerateDirectories(Sources).Select(static path => Path.GetFileName(path)).Order(StringComparer.Ordinal)];

    /// <summary>A folder for what a run of one program writes.</summary>
    public string FolderOf(string name) => Path.Combine(_folder, name);

    public string FileOf(string name) => Path.Combine(_folder, name, "bin", "Debug", "net10.0", $"{name}.dll");

    /// <summary>A folder with the source and the project of one program only, for a build that needs what no other does.</summary>
    public string CopyOf(string name, bool withPublicFeed)
    {
        string folder = _feed.NewcomersFolder($"one-{name}", withPublicFeed);
        Write(folder, name);
        return Path.Combine(folder, name);
    }

    internal RunningProgram Start(string name, params string[] arguments) =>
        RunningProgram.Start(FolderOf(name), "dotnet", [FileOf(name), .. arguments]);

    private static void Write(string parent, string name)
    {
        string folder = Directory.CreateDirectory(Path.Combine(parent, name)).FullName;
        foreach (string source in Directory.EnumerateFiles(Path.Combine(Sources, name)))
        {
            File.Copy(source, Path.Combine(folder, Path.GetFileName(source)));
        }

        NewcomersProject.Write(folder, name, KindOf(name), PackagesOf(name));
    }

    private static NewcomersProject.Kind KindOf(string name) => name switch
    {
        "Tested" => NewcomersProject.Kind.Library,
        "WebPage" => NewcomersProject.Kind.Web,
        _ => NewcomersProject.Kind.Program,
    };

    private static (string Id, string Version)[] PackagesOf(string name) => name switch
    {
        "Worker" => [("QuickSilver.Hosting", Feed.Version), Known("Microsoft.Extensions.Hosting")],
        "Metrics" =>
        [
            ("QuickSilver.Hosting", Feed.Version),
            Known("Microsoft.Extensions.Hosting"),
            Known("OpenTelemetry.Extensions.Hosting"),
            Known("OpenTelemetry.Exporter.Console"),
        ],
        "Tested" =>
        [
            ("QuickSilver", Feed.Version),
            ("Microsoft.NET.Test.Sdk", Feed.Known("TestSdk")),
            ("xunit", Feed.Known("Xunit")),
            ("xunit.runner.visualstudio", Feed.Known("XunitRunner")),
        ],
        _ => [("QuickSilver", Feed.Version)],
    };

    private static (string Id, string Version) Known(string package) => (package, Feed.Known(package));
}
