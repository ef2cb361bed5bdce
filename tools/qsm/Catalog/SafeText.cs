namespace QuickSilver.Tool.Catalog;

// Names come from the network, so nothing in them may control the terminal.
internal static class SafeText
{
    public static string Of(string text) =>
        text.Any(char.IsControl) ? string.Concat(text.Select(static c => char.IsControl(c) ? '\uFFFD' : c)) : text;
}
