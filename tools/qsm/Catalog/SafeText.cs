namespace QuickSilver.Tool.Catalog;

// Names come from the network, so nothing in them may control the terminal.
internal static class SafeText
{
    public static string Of(string text) =>
        text.Any(char.IsControl) ? string.Concat(text.Select(static c => char.IsControl(c) ? '\uFFFD' : c)) : text;

    /// <summary>The same for a text of several lines, which remain. Every end of a line is a line feed.</summary>
    public static string OfLines(string text) =>
        text.Any(char.IsControl) ? string.Join('\n', text.ReplaceLineEndings("\n").Split('\n').Select(Of)) : text;
}
