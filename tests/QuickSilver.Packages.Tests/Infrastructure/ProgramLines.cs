using System.Text.RegularExpressions;

namespace QuickSilver.Packages.Tests.Infrastructure;

// The lines of a program that a programmer has to think of, by the rule that the page about the twelve programs states.
internal static partial class ProgramLines
{
    public static int Count(string source) =>
        source.Split('\n').Select(static line => line.Trim()).Count(static line => !IsForm().IsMatch(line));

    // Nothing, a comment, a using directive, or only brackets and punctuation.
    [GeneratedRegex(@"^(?:$|//|using [\w.]+;$|[(){}\[\];,.]+$)")]
    private static partial Regex IsForm();
}
