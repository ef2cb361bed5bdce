using System.Reflection.Metadata;
using System.Reflection.PortableExecutable;
using System.Text;
using System.Text.RegularExpressions;
using QuickSilver.Packages.Tests.Infrastructure;

namespace QuickSilver.Packages.Tests;

[Collection(nameof(Feed))]
public sealed partial class PackageContentsTests(Feed feed)
{
    // Has no assembly, and so no symbols.
    private const string Templates = "QuickSilver.Templates";
    private const string AppHosts = "QuickSilver.Aspire.Hosting";

    private static readonly string[] All =
    [
        "QuickSilver", "QuickSilver.Aspire", AppHosts, "QuickSilver.Groups", "QuickSilver.Hosting", "QuickSilver.OpenTelemetry",
        "QuickSilver.ProtobufNet", "QuickSilver.Simulation", Templates, "qsm",
    ];

    private static readonly string[] Libraries = [.. All.Where(id => id is not ("qsm" or Templates))];

    // The assemblies that users add without naming them.
    private static readonly string[] Carried =
        ["QuickSilver", "QuickSilver.Core", "QuickSilver.Membership", "QuickSilver.Multicast", "QuickSilver.Serialization"];

    public static TheoryData<string> Packages => new(All);

    [Fact]
    public void Only_the_packages_for_users_are_packed()
    {
        var expected = All.Select(id => $"{id}.{Feed.Version}.nupkg")
            .Concat(All.Where(id => id != Templates).Select(id => $"{id}.{Feed.Version}.snupkg"));
        Assert.Equal(expected.Order(StringComparer.Ordinal), feed.Files);
    }

    [Theory]
    [MemberData(nameof(Packages))]
    public void A_package_says_what_it_is_under_which_license_and_from_which_source(string id)
    {
        var package = feed.Package(id);
        Assert.Equal(id, package.Says("id"));
        Assert.Equal("Apache-2.0", package.Says("license"));
        Assert.Equal("README.md", package.Says("readme"));
        Assert.Contains("README.md", package.Files);
        Assert.Contains("QuickSilver", package.Says("description") + package.Says("id"));
        Assert.Contains("multicast", package.Says("tags")!.Split(' '));
        Assert.Equal("git", package.Repository("type"));
        Assert.Equal(Feed.RepositoryUrl, package.Repository("url"));
        Assert.Equal(Feed.RepositoryUrl, package.Says("projectUrl"));
        if (Directory.Exists(Path.Combine(Feed.Root, ".git")) || File.Exists(Path.Combine(Feed.Root, ".git")))
        {
            Assert.Matches("^[0-9a-f]{40}$", package.Repository("commit"));
        }
    }

    [Theory]
    [MemberData(nameof(Packages))]
    public void A_package_has_the_icon_and_a_page_that_is_its_source_s_with_links_that_lead_somewhere(string id)
    {
        var package = feed.Package(id);
        Assert.Equal("icon.png", package.Says("icon"));
        byte[] icon = package.Content("icon.png");
        Assert.Equal([0x89, (byte)'P', (byte)'N', (byte)'G'], icon[..4]);
        // Width and height, in the first chunk.
        Assert.Equal([0, 0, 0, 128, 0, 0, 0, 128], icon[16..24]);
        string page = Encoding.UTF8.GetString(package.Content("README.md")).ReplaceLineEndings("\n");
        var links = Link().Matches(page).Select(static link => link.Groups[1].Value).ToList();
        Assert.All(links, static link => Assert.StartsWith("http", link, StringComparison.Ordinal));
        foreach (string link in links.Where(static link => link.StartsWith(Feed.RepositoryUrl, StringComparison.Ordinal)))
        {
            string path = link[$"{Feed.RepositoryUrl}/blob/main/".Length..].Split('#')[0];
            Assert.True(Path.Exists(Path.Combine(Feed.Root, path)), $"{id}: {link} is no file of the repository.");
        }

        string source = File.ReadAllText(Path.Combine(Feed.Root, PageOf(id))).ReplaceLineEndings("\n");
        Assert.Equal(Link().Replace(source, "").TrimEnd(), Link().Replace(page, "").TrimEnd());
        Assert.True(links.Count > 0 || !source.Contains("](", StringComparison.Ordinal));
    }

    private static string PageOf(string id) => id switch
    {
        Templates => "templates/README.md",
        "qsm" => "tools/qsm/README.md",
        _ => $"src/{id}/README.md",
    };

    [Fact]
    public void The_page_of_the_library_begins_with_its_package_and_a_program()
    {
        string page = File.ReadAllText(Path.Combine(Feed.Root, PageOf("QuickSilver"))).ReplaceLineEndings("\n");
        string[] code = [.. page.Split("```").Where(static (_, at) => at % 2 == 1)];
        Assert.Equal("\ndotnet add package QuickSilver\n", code[0]);
        Assert.StartsWith("csharp\n", code[1], StringComparison.Ordinal);
        Assert.DoesNotContain("dotnet build", page, StringComparison.Ordinal);
        Assert.DoesNotContain("artifacts/", page, StringComparison.Ordinal);
    }

    [GeneratedRegex(@"\]\(([^)]*)\)")]
    private static partial Regex Link();

    [Fact]
    public void Each_package_describes_itself_in_its_own_words()
    {
        var descriptions = All.Select(id => feed.Package(id).Says("description")).ToList();
        Assert.DoesNotContain("Package Description", descriptions);
        Assert.Equal(descriptions.Count, descriptions.Distinct().Count());
    }

    [Fact]
    public void The_library_carries_the_assemblies_below_it_their_documentation_and_the_generator()
    {
        var expected = Carried.SelectMany(name => new[] { $"lib/net10.0/{name}.dll", $"lib/net10.0/{name}.xml" })
            .Append("analyzers/dotnet/cs/QuickSilver.Generators.dll").Append("README.md").Append("icon.png");
        Assert.Equal(expected.Order(StringComparer.Ordinal), feed.Package("QuickSilver").Files);
        Assert.Equal(
            Carried.Select(name => $"lib/net10.0/{name}.pdb").Order(StringComparer.Ordinal), feed.Symbols("QuickSilver").Files);
    }

    [Theory]
    [InlineData("QuickSilver.Aspire")]
    [InlineData("QuickSilver.Groups")]
    [InlineData("QuickSilver.Hosting")]
    [InlineData("QuickSilver.OpenTelemetry")]
    [InlineData("QuickSilver.ProtobufNet")]
    [InlineData("QuickSilver.Simulation")]
    public void A_companion_carries_itself_only_and_passes_the_generator_on(string id)
    {
        string[] schema = id == "QuickSilver.Hosting" ? ["ConfigurationSchema.json", $"buildTransitive/net10.0/{id}.targets"] : [];
        Assert.Equal(
            schema.Concat(["README.md", "icon.png", $"lib/net10.0/{id}.dll", $"lib/net10.0/{id}.xml"]).Order(StringComparer.Ordinal),
            feed.Package(id).Files.Order(StringComparer.Ordinal));
        Assert.Equal([$"lib/net10.0/{id}.pdb"], feed.Symbols(id).Files);
        Assert.False(feed.Package(id).Dependencies.Single(dependency => dependency.Id == "QuickSilver").HidesAnalyzers);
    }

    // A program that references an older version than a package asks for does not restore (NU1605).
    [Theory]
    [MemberData(nameof(Packages))]
    public void A_package_asks_for_the_first_version_of_the_extensions_that_its_framework_has(string id) => Assert.All(
        feed.Package(id).Dependencies.Where(static one => one.Id.StartsWith("Microsoft.Extensions.", StringComparison.Ordinal)),
        static one => Assert.Equal("10.0.0", one.Version));

    [Fact]
    public void The_package_for_app_hosts_carries_the_service_and_asks_for_Aspire_only()
    {
        var package = feed.Package(AppHosts);
        Assert.Equal(["Aspire.Hosting"], package.Dependencies.Select(static one => one.Id));
        Assert.Contains($"buildTransitive/net10.0/{AppHosts}.targets", package.Files);
        // The tool and the service are one program.
        Assert.Equal(AssembliesIn(feed.Package("qsm"), "tools/net10.0/any/"), AssembliesIn(package, "service/"));
        Assert.Contains("service/qsm.runtimeconfig.json", package.Files);
        Assert.Contains("service/qsm.deps.json", package.Files);

        static IEnumerable<string> AssembliesIn(PackageFile package, string folder) => package.Files
            .Where(file => file.StartsWith(folder, StringComparison.Ordinal) && file.EndsWith(".dll", StringComparison.Ordinal))
            .Select(file => file[folder.Length..])
            .Order(StringComparer.Ordinal);
    }

    [Fact]
    public void The_library_asks_for_what_its_assemblies_refer_to_and_for_nothing_more()
    {
        var package = feed.Package("QuickSilver");
        string runtime = Path.GetDirectoryName(typeof(object).Assembly.Location)!;
        var needed = Carried.SelectMany(name => References(package.Content($"lib/net10.0/{name}.dll")))
            .Where(name => !Carried.Contains(name) && !File.Exists(Path.Combine(runtime, name + ".dll")));
        Assert.Equal(
            needed.Distinct().Order(StringComparer.Ordinal), package.Dependencies.Select(one => one.Id).Order(StringComparer.Ordinal));
    }

    [Fact]
    public void No_package_asks_for_one_that_is_not_made()
    {
        foreach (string id in Libraries)
        {
            var own = feed.Package(id).Dependencies.Where(one => one.Id.StartsWith("QuickSilver", StringComparison.Ordinal));
            Assert.All(own, one => Assert.Contains($"{one.Id}.{one.Version}.nupkg", feed.Files));
        }
    }

    [Fact]
    public void The_adapter_asks_for_both_halves_of_protobuf_net()
    {
        var asked = feed.Package("QuickSilver.ProtobufNet").Dependencies.ToDictionary(one => one.Id, one => one.Version);
        Assert.Equal(Feed.Known("ProtobufNet"), asked["protobuf-net"]);
        Assert.Equal(Feed.Known("ProtobufNet"), asked["protobuf-net.Core"]);
    }

    [Fact]
    public void The_tool_is_one_and_brings_all_it_needs()
    {
        var tool = feed.Package("qsm");
        Assert.Equal(["DotnetTool"], tool.Types);
        Assert.Empty(tool.Dependencies);
        Assert.All(
            Carried.Append("QuickSilver.Groups").Append("QuickSilver.Hosting").Append("qsm"),
            name => Assert.Contains($"tools/net10.0/any/{name}.dll", tool.Files));
    }

    [Theory]
    [MemberData(nameof(Packages))]
    public void Released_files_contain_no_path_of_the_build_machine(string id)
    {
        Assert.SkipUnless(Feed.IsRelease, "Debug builds name the folders that their debugger looks into.");
        byte[] root = Encoding.UTF8.GetBytes(Feed.Root);
        var package = feed.Package(id);
        Assert.All(package.Files, file => Assert.True(package.Content(file).AsSpan().IndexOf(root) < 0, $"{file} names {Feed.Root}"));
        if (id == Templates)
        {
            return;
        }

        var symbols = feed.Symbols(id);
        Assert.All(symbols.Files.SelectMany(file => Sources(symbols.Content(file))), source => Assert.StartsWith("/_/", source));
    }

    [Fact]
    public void The_documentation_is_that_of_the_assembly()
    {
        string documentation = Encoding.UTF8.GetString(feed.Package("QuickSilver").Content("lib/net10.0/QuickSilver.xml"));
        Assert.Contains("M:QuickSilver.QuickSilverNode.StartAsync(", documentation);
    }

    private static List<string> Sources(byte[] symbols)
    {
        using var provider = MetadataReaderProvider.FromPortablePdbStream(new MemoryStream(symbols));
        var metadata = provider.GetMetadataReader();
        return [.. metadata.Documents.Select(handle => metadata.GetString(metadata.GetDocument(handle).Name))];
    }

    private static IEnumerable<string> References(byte[] assembly)
    {
        using var image = new PEReader(new MemoryStream(assembly));
        var metadata = image.GetMetadataReader();
        return [.. metadata.AssemblyReferences.Select(handle => metadata.GetString(metadata.GetAssemblyReference(handle).Name))];
    }
}
