using System.Globalization;
using System.Text;
using QuickSilver.Architecture.Tests.PlainEnglish;
using QuickSilver.Architecture.Tests.Reading;

namespace QuickSilver.Architecture.Tests;

// Plain English in all that people read. Older texts may keep as many of the banned words as the baseline says for their area, and the
// baseline only falls.
public sealed class PlainEnglishTests
{
    private const string AcceptVariable = "QS_ACCEPT_PROSE";
    private const string Baseline = "tests/QuickSilver.Architecture.Tests/PlainEnglish/baseline.txt";
    private const int MostShown = 40;
    private static readonly string[] Folders =
        ["src", "tools", "samples", "benchmarks", "tests", "docs", "findings", "templates", "README.md", "CONTRIBUTING.md"];

    // Their pages and projects are counted as one.
    private static readonly string[] Whole = ["docs", "findings", "templates"];

    [Fact]
    public void Banned_words_only_become_fewer()
    {
        var found = Occurrences();
        var allowed = ReadBaseline();
        if (Environment.GetEnvironmentVariable(AcceptVariable) == "1")
        {
            allowed = allowed.ToDictionary(a => a.Key, a => Math.Min(a.Value, found[a.Key].Count()), StringComparer.Ordinal);
            WriteBaseline(allowed);
        }

        var report = new StringBuilder();
        foreach (string area in found.Select(a => a.Key).Union(allowed.Keys).Order(StringComparer.Ordinal))
        {
            Compare(report, area, [.. found[area]], allowed.GetValueOrDefault(area));
        }

        Assert.True(report.Length == 0, report.ToString());
    }

    [Fact]
    public void A_word_is_found_in_what_people_read_alone()
    {
        const string Word = "an" + "ew";
        string code = $$"""""
            /// <summary>Starts {{Word}}. <see cref="{{Word}}"/> <c>x {{Word}}</c></summary>
            var {{Word}} = "{{Word}}"; // goes
            Call("begin {{Word}}", $"a {{Word}}{{{Word}}}"); // on, goes
            // on
            public void It_starts_{{Word}}()
            """"";

        Assert.Equal([1, 3, 3, 3, 5], BannedWords.Listed.In(ProseText.OfCode(code, hasTestNames: true)).Select(w => w.Line));
    }

    [Fact]
    public void Of_a_page_code_is_not_read_but_its_comments_are()
    {
        const string Word = "an" + "ew";
        string page = $"It starts `{Word}`\n{Word}.\n\n```csharp\n{Word}(); // {Word}\n```\n\n```\n{Word}\n```\n[all]({Word}.md) {Word}\n";

        Assert.Equal([2, 5, 11], BannedWords.Listed.In(ProseText.OfMarkdown(page)).Select(w => w.Line));
    }

    [Theory]
    [InlineData("Wh" + "o has the key can read it.", 1)]
    [InlineData("Wh" + "o has the key?", 0)]
    [InlineData("## Wh" + "o may publish\n", 0)]
    [InlineData("see [Wh" + "o waits](x.md).", 0)]
    [InlineData("The member is we" + "ll.", 1)]
    [InlineData("This is well known.", 0)]
    public void A_free_relative_is_no_subject(string text, int count) =>
        Assert.Equal(count, BannedWords.Listed.In(ProseText.OfMarkdown(text)).Count());

    private static void Compare(StringBuilder report, string area, List<Occurrence> found, int allowed)
    {
        if (found.Count > allowed)
        {
            report.AppendLine(
                CultureInfo.InvariantCulture,
                $"{area} has {found.Count} banned words, and may have {allowed}. By the newest file:");
            foreach (var word in found.OrderByDescending(w => w.Written).Take(MostShown))
            {
                report.AppendLine(CultureInfo.InvariantCulture, $"  {word.File}:{word.Line}: \"{word.Word}\"; better: {word.Better}");
            }
        }
        else if (found.Count < allowed)
        {
            report.AppendLine(CultureInfo.InvariantCulture, $"""
                {area} has {found.Count} banned words, and the baseline still allows {allowed}.
                Run these tests with {AcceptVariable}=1, which lowers {Baseline}, and commit it.
                """);
        }
    }

    private static ILookup<string, Occurrence> Occurrences() => (
        from file in Folders.Where(f => f.EndsWith(".md", StringComparison.Ordinal)).Concat(Repository.Files(Folders, ".cs", ".md"))
        from word in BannedWords.Listed.In(ProseText.Of(file, Repository.Read(file)))
        select new Occurrence(file, word.Line, word.Word, word.Better)).ToLookup(w => AreaOf(w.File), StringComparer.Ordinal);

    private static string AreaOf(string file)
    {
        string[] parts = file.Split('/');
        return parts.Length == 1 || Whole.Contains(parts[0]) ? parts[0] : $"{parts[0]}/{parts[1]}";
    }

    private static Dictionary<string, int> ReadBaseline() => Repository.ReadLines(Baseline)
        .Select(l => l.Split(' ')).ToDictionary(l => l[0], l => int.Parse(l[1], CultureInfo.InvariantCulture), StringComparer.Ordinal);

    private static void WriteBaseline(Dictionary<string, int> allowed) => File.WriteAllLines(
        Path.Combine(Repository.Root, Baseline),
        allowed.Where(a => a.Value > 0).OrderBy(a => a.Key, StringComparer.Ordinal)
            .Select(a => $"{a.Key} {a.Value.ToString(CultureInfo.InvariantCulture)}"));

    private sealed record Occurrence(string File, int Line, string Word, string Better)
    {
        public DateTime Written => System.IO.File.GetLastWriteTimeUtc(Path.Combine(Repository.Root, File));
    }
}
