using System.Reflection;
using QuickSilver.Tests.Infrastructure;

namespace QuickSilver.Packages.Tests.Infrastructure;

// What `dotnet pack` makes of this build, in a folder of its own outside the repository, where no settings of the
// repository apply. Newcomers work in folders beside it.
public sealed class Feed : IDisposable
{
    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("quicksilver-packages-");
    private readonly Lazy<BuiltPrograms> _programs;
    private readonly Lazy<PublishedProgram> _compiledAheadOfTime;
    private readonly Lazy<PublishedProgram> _trimmed;
    private readonly Lazy<string> _installed;

    public Feed()
    {
        NewcomersPackages = _folder.CreateSubdirectory("packages").FullName;
        _programs = new Lazy<BuiltPrograms>(() => new BuiltPrograms(this));
        _compiledAheadOfTime = new Lazy<PublishedProgram>(() => new PublishedProgram(this, "PublishAot"));
        _trimmed = new Lazy<PublishedProgram>(() => new PublishedProgram(this, "PublishTrimmed"));
        _installed = new Lazy<string>(Install);
        string configuration = OwnAttribute<AssemblyConfigurationAttribute>().Configuration;
        DotnetCommand.Dotnet(Root, "pack", "QuickSilver.sln", "--no-build", "-c", configuration, "-o", PackageFolder,
            $"-p:RepositoryUrl={RepositoryUrl}");
        DotnetCommand.Dotnet(Root, "pack", Path.Combine("tests", "QuickSilver.Receipts"), "--no-build", "-c", configuration,
            "-o", FamilyFolder, "-p:IsPackable=true");
    }

    // A package of an earlier build, under the same version, may lie on the machine.
    private const string OwnFromBuilt = """
        <packageSourceMapping>
            <packageSource key="built">
              <package pattern="QuickSilver" />
              <package pattern="QuickSilver.*" />
              <package pattern="qsm" />
            </packageSource>
            <packageSource key="families">
              <package pattern="QuickSilver.Receipts" />
            </packageSource>
            <packageSource key="machine">
              <package pattern="*" />
            </packageSource>
          </packageSourceMapping>
        """;

    /// <summary>The address that the publisher of the packages would name.</summary>
    public const string RepositoryUrl = "https://example.org/quicksilver";

    /// <summary>The repository's own folder.</summary>
    public static string Root => RepositoryRoot.Path;

    /// <summary>The packages' version; this assembly has the same.</summary>
    public static string Version { get; } = OwnAttribute<AssemblyInformationalVersionAttribute>().InformationalVersion.Split('+')[0];

    public static bool IsRelease => OwnAttribute<AssemblyConfigurationAttribute>().Configuration == "Release";

    /// <summary>Where the packages are installed that newcomers use: one folder for all, so that each package is unpacked once.</summary>
    internal static string NewcomersPackages { get; private set; } = "";

    /// <summary>The programs of all pages and users, which are built together when a test first needs one of them.</summary>
    internal BuiltPrograms Programs => _programs.Value;

    /// <summary>The application that is compiled ahead of time when a test first needs it.</summary>
    internal PublishedProgram CompiledAheadOfTime => _compiledAheadOfTime.Value;

    /// <summary>The application that is trimmed when a test first needs it.</summary>
    internal PublishedProgram Trimmed => _trimmed.Value;

    private string PackageFolder => Path.Combine(_folder.FullName, "feed");

    // Families of the tests, which are not published.
    private string FamilyFolder => Path.Combine(_folder.FullName, "families");

    public IReadOnlyList<string> Files =>
        [.. Directory.EnumerateFiles(PackageFolder).Select(path => Path.GetFileName(path)).Order(StringComparer.Ordinal)];

    internal string PathOf(string id) => Path.Combine(PackageFolder, $"{id}.{Version}.nupkg");

    internal PackageFile Package(string id) => new(PathOf(id));

    internal PackageFile Symbols(string id) => new(Path.Combine(PackageFolder, $"{id}.{Version}.snupkg"));

    /// <summary>A folder of a user who has this feed, and the packages that these packages depend on.</summary>
    /// <param name="name">The folder's name.</param>
    /// <param name="withPublicFeed">Whether packages come from the machine's own feeds as well: those that a runtime needs.</param>
    public string NewcomersFolder(string name, bool withPublicFeed = false)
    {
        string folder = _folder.CreateSubdirectory(name).FullName;
        if (withPublicFeed)
        {
            // The names of the machine's feeds are not known, so no rule can keep them from the packages of this build: these are installed
            // before.
            _ = _installed.Value;
        }

        File.WriteAllText(Path.Combine(folder, "nuget.config"), $"""
            <configuration>
              <packageSources>
                {(withPublicFeed ? "" : "<clear />")}
                <add key="built" value="{PackageFolder}" />
                <add key="families" value="{FamilyFolder}" />
                <add key="machine" value="{Known("PackageFolder")}" />
              </packageSources>
              {(withPublicFeed ? "" : OwnFromBuilt)}
            </configuration>
            """);
        return folder;
    }

    /// <summary>What this project's file says about the build: a folder, or the version of a package that newcomers add.</summary>
    public static string Known(string key) =>
        typeof(Feed).Assembly.GetCustomAttributes<AssemblyMetadataAttribute>().Single(attribute => attribute.Key == key).Value!;

    private string Install()
    {
        string folder = NewcomersFolder("installed");
        NewcomersProject.Write(folder, "Installed", NewcomersProject.Kind.Program, ("QuickSilver.Hosting", Version));
        return DotnetCommand.Dotnet(folder, "restore");
    }

    public void Dispose() => _folder.Delete(recursive: true);

    private static T OwnAttribute<T>()
        where T : Attribute => typeof(Feed).Assembly.GetCustomAttribute<T>()!;
}

[CollectionDefinition(nameof(Feed))]
public sealed class FeedCollection : ICollectionFixture<Feed>;
