using System.Text.RegularExpressions;
using QuickSilver.Packages.Tests.Infrastructure;

namespace QuickSilver.Packages.Tests;

// What the pages show compiles as it stands there, against the packages, and runs where it is a program that ends.
[Collection(nameof(Feed))]
public sealed partial class DocumentationTests(Feed feed)
{
    // Beside the package whose page it is: what the page says to add, by what its programs contain.
    private static readonly Dictionary<string, string> Companions = new()
    {
        ["using QuickSilver.Hosting;"] = "Microsoft.Extensions.Hosting",
        ["using OpenTelemetry;"] = "OpenTelemetry.Extensions.Hosting",
        ["UseOtlpExporter"] = "OpenTelemetry.Exporter.OpenTelemetryProtocol",
    };

    // Of this repository, by the namespaces that programs use.
    private static readonly string[] Own =
        ["QuickSilver.Groups", "QuickSilver.Hosting", "QuickSilver.OpenTelemetry", "QuickSilver.Simulation"];

    // Other tests build and run these.
    private static readonly string[] Elsewhere =
        [FirstProgram.Source, FirstProgram.Test, FirstProgram.HostTest, WebPage.Application, WebPage.Test];

    private static readonly IReadOnlyDictionary<string, CodeBlock> Blocks = CodeBlock.All
        .Where(static block => !block.IsOfARule && !Elsewhere.Contains(block.Text))
        .ToDictionary(static block => block.Name);

    internal static IEnumerable<UserProgram> UserPrograms => Blocks.Values.Select(static block =>
        UserProgram.Of(ProjectOf(block.Name), KindOf(block), block.Text, PackagesOf(block)));

    public static TheoryData<string> Programs => new(Blocks.Keys);

    [Theory]
    [MemberData(nameof(Programs))]
    public void A_program_on_a_page_builds_against_its_package_alone_and_runs(string name)
    {
        string file = feed.Programs.FileOf(ProjectOf(name));
        if (!Blocks[name].Text.Contains("RunAsync()", StringComparison.Ordinal))
        {
            Assert.NotEqual("", DotnetCommand.Dotnet(feed.Programs.FolderOf(ProjectOf(name)), file));
        }
    }

    [Fact]
    public void Code_on_the_rule_pages_is_flagged_exactly_where_the_pages_say()
    {
        string folder = feed.NewcomersFolder("rules");
        var expected = new List<string>();
        var blocks = CodeBlock.All.Where(block => block.IsOfARule).ToList();
        foreach (var block in blocks)
        {
            // A later block of a page may use the types of an earlier one, and have another version of them.
            string rule = Path.GetFileNameWithoutExtension(block.Page);
            string space = string.Concat(Enumerable.Range(0, block.Number).Select(at => at == 0 ? rule : ".Then"));
            string file = $"{rule}_{block.Number}.cs";
            bool isOfMembers = block.Text.StartsWith("[DataMember", StringComparison.Ordinal);
            string holder = isOfMembers ? "[DataContract] public sealed class Holder {" : "";
            string[] lines = block.Text.Split('\n');
            File.WriteAllText(
                Path.Combine(folder, file),
                $"namespace {space} {{ {holder}\n{block.Text}{(isOfMembers ? "} }" : "}")}");
            for (int at = 0; at < lines.Length; at++)
            {
                // The text begins in the file's second line.
                expected.AddRange(Flag().Matches(lines[at]).Select(flag => $"{file}({at + 2}): {flag.Groups[1].Value}"));
            }
        }

        File.WriteAllText(Path.Combine(folder, "Usings.cs"), "global using System.Runtime.Serialization;");
        // The build does not print suggestions.
        File.WriteAllText(
            Path.Combine(folder, ".editorconfig"), "root = true\n[*.cs]\ndotnet_diagnostic.QS0018.severity = warning\n");
        NewcomersProject.Write(folder, "Rules", NewcomersProject.Kind.Library, ("QuickSilver", Feed.Version));
        string written = DotnetCommand.Fail(folder, "dotnet", "build", "-o", "bin");
        var found = Report().Matches(written).Select(report => $"{report.Groups[1]}({report.Groups[2]}): {report.Groups[3]}").Distinct();
        Assert.Equal(expected.Order(StringComparer.Ordinal), found.Order(StringComparer.Ordinal));
        string[] pages = Directory.GetFiles(Path.Combine(Feed.Root, "docs", "rules"));
        Assert.Equal(pages.Length, blocks.Select(block => block.Page).Distinct().Count());
    }

    private static string ProjectOf(string name) => $"Page-{name.Replace('/', '-').Replace('#', '-')}";

    private static NewcomersProject.Kind KindOf(CodeBlock block) => block.Text.Contains("WebApplication.", StringComparison.Ordinal)
        ? NewcomersProject.Kind.Web
        : NewcomersProject.Kind.Program;

    // The namespace of the package, or one within it.
    private static bool Uses(CodeBlock block, string own) =>
        block.Text.Contains($"using {own};", StringComparison.Ordinal) || block.Text.Contains($"using {own}.", StringComparison.Ordinal);

    private static (string, string)[] PackagesOf(CodeBlock block)
    {
        string package = Package(block);
        return
        [
            (package, Feed.Version),
            .. Own.Where(own => own != package && Uses(block, own))
                .Select(static own => (own, Feed.Version)),
            .. Companions.Where(one => block.Text.Contains(one.Key, StringComparison.Ordinal))
                // The web framework has it.
                .Where(one => KindOf(block) != NewcomersProject.Kind.Web || one.Value != "Microsoft.Extensions.Hosting")
                .Select(static one => (one.Value, Feed.Known(one.Value))),
        ];
    }

    // A page under src is its package's own. Elsewhere the namespaces that a program uses say what to add.
    private static string Package(CodeBlock block) => block.Page.StartsWith("src/", StringComparison.Ordinal) ? block.Page.Split('/')[1]
        : block.Text.Contains("using QuickSilver.Aspire;", StringComparison.Ordinal) ? "QuickSilver.Aspire"
        : block.Text.Contains("using QuickSilver.Hosting;", StringComparison.Ordinal) ? "QuickSilver.Hosting"
        : "QuickSilver";

    [GeneratedRegex("// (QS[0-9]{4})")]
    private static partial Regex Flag();

    [GeneratedRegex(@"([^/\\\s]+\.cs)\(([0-9]+),[0-9]+\): (?:error|warning(?= QS)) (\w+):")]
    private static partial Regex Report();
}
