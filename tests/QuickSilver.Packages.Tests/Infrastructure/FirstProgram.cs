using System.Text.RegularExpressions;

namespace QuickSilver.Packages.Tests.Infrastructure;

// The program that the README shows to a reader who sees QuickSilver for the first time, and the test that the page of the
// simulator's package shows.
internal static partial class FirstProgram
{
    public static string Source { get; } = Find("README.md", Program(), "under \"A first program\"");

    public static string Test { get; } = Find("src/QuickSilver.Simulation/README.md", FirstBlock(), "at all");

    /// <summary>The test of a host on the same page.</summary>
    public static string HostTest { get; } =
        CodeBlock.All.Single(static block => block is { Page: "src/QuickSilver.Simulation/README.md", Number: 2 }).Text;

    private static string Find(string page, Regex block, string where) =>
        block.Match(File.ReadAllText(Path.Combine(Feed.Root, page)).ReplaceLineEndings("\n")) is { Success: true } match
            ? match.Groups[1].Value
            : throw new FormatException($"{page} has no C# block {where}.");

    [GeneratedRegex(@"^## A first program\n(?:(?!##).*\n)*?```csharp\n((?:(?!```).*\n)*)```", RegexOptions.Multiline)]
    private static partial Regex Program();

    [GeneratedRegex(@"^```csharp\n((?:(?!```).*\n)*)```", RegexOptions.Multiline)]
    private static partial Regex FirstBlock();
}
