using System.Text.RegularExpressions;

namespace QuickSilver.Architecture.Tests.PlainEnglish;

// What people read of a file: of C#, comments, strings of several words and names of tests, but no bytes in the form of strings; of
// Markdown, all but code. Everything else becomes bars, so that places and lines stay those of the file, and no phrase reaches from one
// comment over code to the next.
internal static partial class ProseText
{
    private const char Hidden = '|';

    public static string Of(string path, string text) =>
        path.EndsWith(".md", StringComparison.Ordinal)
            ? OfMarkdown(text)
            : OfCode(text, path.StartsWith("tests/", StringComparison.Ordinal));

    public static string OfCode(string text, bool hasTestNames = false)
    {
        char[] prose = Blank(text);
        int at = 0;
        foreach (Match token in Token().Matches(text))
        {
            ShowNames(text, prose, at, token.Index, hasTestNames);
            at = token.Index + token.Length;
            bool isComment = token.Groups["comment"].Success;
            bool isBytes = text.AsSpan(at).StartsWith("u8", StringComparison.Ordinal);
            if (isComment || (token.Groups["text"].Success && token.ValueSpan.Contains(' ') && !isBytes))
            {
                string shown = isComment ? Hide(CodeInComment(), token.Value) : Hide(Hole(), token.Value);
                shown.CopyTo(prose.AsSpan(token.Index));
            }
        }

        ShowNames(text, prose, at, text.Length, hasTestNames);
        return new string(prose);
    }

    public static string OfMarkdown(string text) => Fence().Replace(
        Hide(Unread(), text),
        fence => fence.Groups["language"].Value == "csharp" ? OfCode(fence.Value) : new string(Blank(fence.Value)));

    private static char[] Blank(string text) => [.. text.Select(c => char.IsWhiteSpace(c) ? c : Hidden)];

    // A name of a test is a sentence.
    private static void ShowNames(string text, char[] prose, int from, int to, bool hasTestNames)
    {
        for (var name = TestName().Match(text, from, to - from); hasTestNames && name.Success; name = name.NextMatch())
        {
            name.Value.Replace('_', ' ').CopyTo(prose.AsSpan(name.Index));
        }
    }

    // Marks of comments and tags become white space, since a sentence continues behind them. What they refer to is no prose.
    private static string Hide(Regex parts, string text) => parts.Replace(text, part =>
        part.Groups["mark"].Success ? new string(' ', part.Length) : new string(Blank(part.Value)));

    [GeneratedRegex(
        """
        (?<comment>//[^\n]*|/\*.*?\*/)
        |\$*(?<quotes>"{3,})(?<text>.*?)\k<quotes>
        |(\$@|@\$|@)"(?<text>([^"]|"")*)"
        |\$?"(?<text>(\\.|[^"\\\n])*)"
        |'(\\.|[^'\\\n])+'
        """,
        RegexOptions.Singleline | RegexOptions.IgnorePatternWhitespace | RegexOptions.ExplicitCapture)]
    private static partial Regex Token();

    [GeneratedRegex(
        """
        (?<mark>^/{2,3}|</?(summary|remarks|para|returns)>|<(param|typeparam|exception|see|seealso)\b[^>]*>)
        |<c>.*?</c>
        |`[^`\n]*`
        """,
        RegexOptions.IgnorePatternWhitespace | RegexOptions.ExplicitCapture)]
    private static partial Regex CodeInComment();

    [GeneratedRegex(@"\{[^{}\n]*\}")]
    private static partial Regex Hole();

    [GeneratedRegex(@"\b[A-Z][a-z0-9]*(_\w+){2,}", RegexOptions.ExplicitCapture)]
    private static partial Regex TestName();

    [GeneratedRegex(@"(?<!`)`[^`\n]+`(?!`)|(?<=\])\([^)\s]*\)")]
    private static partial Regex Unread();

    [GeneratedRegex(@"^```(?<language>\w*).*?^```", RegexOptions.Multiline | RegexOptions.Singleline)]
    private static partial Regex Fence();
}
