using System.Text.RegularExpressions;

namespace QuickSilver.Packages.Tests.Infrastructure;

// The program that the README shows to who sees QuickSilver for the first time.
internal static partial class FirstProgram
{
    public static string Source { get; } = Find(File.ReadAllText(Path.Combine(Feed.Root, "README.md")));

    private static string Find(string page) =>
        Program().Match(page.ReplaceLineEndings("\n")) is { Success: true } match
            ? match.Groups[1].Value
            : throw new FormatException("The README has no C# block under \"A first program\".");

    [GeneratedRegex(@"^## A first program\n(?:(?!##).*\n)*?```csharp\n((?:(?!```).*\n)*)```", RegexOptions.Multiline)]
    private static partial Regex Program();
}
