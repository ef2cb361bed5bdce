using System.Globalization;
using System.Text.RegularExpressions;
using QuickSilver.Packages.Tests.Infrastructure;

namespace QuickSilver.Packages.Tests;

// The page that compares the twelve programs with those of other libraries counts right, and hides none that is longer.
public sealed partial class ProgramLinesTests
{
    private const string Page = "docs/twelve-programs.md";
    private const string Longer = "Where a peer needs fewer lines";

    private static readonly string Text = File.ReadAllText(Path.Combine(Feed.Root, Page)).ReplaceLineEndings("\n");

    [Fact]
    public void The_page_has_the_lines_of_each_program_and_of_its_peer()
    {
        var wrong =
            from row in Rows(Text)
            let ours = row.Ours.Sum(Count)
            let theirs = row.Theirs.Sum(Count)
            where (ours, theirs) != (row.OurLines, row.TheirLines)
            select $"{row.Name}: {ours} and {theirs} lines, but the page says {row.OurLines} and {row.TheirLines}";
        Assert.Empty(wrong);
    }

    [Fact]
    public void A_program_that_is_longer_than_its_peer_is_where_the_page_says_why()
    {
        string[] parts = Text.Split($"## {Longer}\n");
        Assert.Equal(2, parts.Length);
        Assert.Empty(Rows(parts[0]).Where(static row => row.OurLines > row.TheirLines).Select(static row => row.Name));
        Assert.Empty(Rows(parts[1]).Where(static row => row.OurLines <= row.TheirLines).Select(static row => row.Name));
    }

    [Fact]
    public void Each_program_and_each_peer_is_on_the_page()
    {
        var rows = Rows(Text).ToList();
        Assert.Equal(12, rows.Select(static row => row.Name).Distinct().Count());
        Assert.Equal(Files("Programs"), rows.SelectMany(static row => row.Ours).Distinct().Order(StringComparer.Ordinal));
        Assert.Equal(Files("Peers"), rows.SelectMany(static row => row.Theirs).Order(StringComparer.Ordinal));
    }

    [Theory]
    [InlineData("", 0)]
    [InlineData("using System.Text;\nusing QuickSilver;\n\n// A comment.\n", 0)]
    [InlineData("await using var node = Start();\nusing var drop = Subscribe();\nusing (Open())\n", 3)]
    [InlineData("if (isOpen)\n{\n    Close(); // now\n}\nelse\n{\n});\n", 3)]
    [InlineData("[DataContract]\npublic sealed record Price(\n    int Amount);\n", 3)]
    public void Blank_lines_comments_usings_and_brackets_do_not_count(string source, int lines) =>
        Assert.Equal(lines, ProgramLines.Count(source));

    private static IEnumerable<Row> Rows(string text) => RowOfTable().Matches(text).Select(static row => new Row(
        row.Groups["name"].Value,
        [.. Link().Matches(row.Groups["ours"].Value).Select(static link => link.Groups[1].Value)],
        int.Parse(row.Groups["our"].Value, CultureInfo.InvariantCulture),
        [.. Link().Matches(row.Groups["theirs"].Value).Select(static link => link.Groups[1].Value)],
        int.Parse(row.Groups["their"].Value, CultureInfo.InvariantCulture)));

    private static IEnumerable<string> Files(string folder) => Directory
        .EnumerateFiles(Path.Combine(Feed.Root, "tests", "QuickSilver.Packages.Tests", folder), "*.cs", SearchOption.AllDirectories)
        .Select(static file => Path.GetRelativePath(Feed.Root, file).Replace('\\', '/'))
        .Order(StringComparer.Ordinal);

    private static int Count(string file) => ProgramLines.Count(File.ReadAllText(Path.Combine(Feed.Root, file)));

    // | name | what it does | links to its sources | lines | links to the peer's | lines |
    [GeneratedRegex(
        @"^\| (?<name>[^|\n]+?) \| [^|\n]+ \| (?<ours>\[[^|\n]+) \| (?<our>[0-9]+) \| (?<theirs>[^|\n]+) \| (?<their>[0-9]+) \|$",
        RegexOptions.Multiline)]
    private static partial Regex RowOfTable();

    [GeneratedRegex(@"\]\(\.\./([^)]+)\)")]
    private static partial Regex Link();

    private sealed record Row(string Name, string[] Ours, int OurLines, string[] Theirs, int TheirLines);
}
