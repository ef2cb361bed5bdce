using System.Text.RegularExpressions;

namespace QuickSilver.Packages.Tests.Infrastructure;

// A C# block of a page: of the README, of a package's own page, or of one under docs. Number counts those of its page.
internal sealed partial record CodeBlock(string Page, int Number, string Text)
{
    public static IReadOnlyList<CodeBlock> All { get; } = [.. Pages().SelectMany(Read)];

    public string Name => $"{Page}#{Number}";

    /// <summary>Shows what the analyzer flags, and so need not compile.</summary>
    public bool IsOfARule => Page.StartsWith("docs/rules/", StringComparison.Ordinal);

    private static IEnumerable<string> Pages()
    {
        yield return "README.md";
        foreach (string folder in new[] { "docs", "src", "tools", "samples" })
        {
            var pages = Directory.EnumerateFiles(Path.Combine(Feed.Root, folder), "*.md", SearchOption.AllDirectories);
            foreach (string page in pages.Order(StringComparer.Ordinal))
            {
                yield return Path.GetRelativePath(Feed.Root, page).Replace('\\', '/');
            }
        }
    }

    private static IEnumerable<CodeBlock> Read(string page) =>
        Block().Matches(File.ReadAllText(Path.Combine(Feed.Root, page)).ReplaceLineEndings("\n"))
            .Select((match, at) => new CodeBlock(page, at + 1, match.Groups[1].Value));

    [GeneratedRegex(@"^```(?:csharp|cs|c#)\n((?:(?!```).*\n)*)```", RegexOptions.Multiline | RegexOptions.IgnoreCase)]
    private static partial Regex Block();
}
