namespace QuickSilver.Packages.Tests.Infrastructure;

// The programs in the folder Programs, as strangers write them.
internal static class TwelvePrograms
{
    /// <summary>The one that is compiled ahead of time, with packages that only the machine's feeds have.</summary>
    public const string AheadOfTime = "AheadOfTime";

    private static readonly string Sources = Path.Combine(Feed.Root, "tests", "QuickSilver.Packages.Tests", "Programs");

    public static IReadOnlyList<UserProgram> All { get; } =
    [
        .. Directory.EnumerateDirectories(Sources).Select(static path => Path.GetFileName(path)).Order(StringComparer.Ordinal)
            .Select(static name => new UserProgram(
                name,
                KindOf(name),
                PackagesOf(name),
                Directory.EnumerateFiles(Path.Combine(Sources, name)).ToDictionary(
                    static file => Path.GetFileName(file), static file => File.ReadAllText(file)))),
    ];

    private static NewcomersProject.Kind KindOf(string name) => name switch
    {
        "Tested" => NewcomersProject.Kind.Test,
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
        _ => [("QuickSilver", Feed.Version)],
    };

    private static (string Id, string Version) Known(string package) => (package, Feed.Known(package));
}
