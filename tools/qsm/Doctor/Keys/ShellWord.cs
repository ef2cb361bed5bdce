namespace QuickSilver.Tool.Doctor.Keys;

// A name in the form that a shell reads as one word. Names come from command lines and from other hosts, and remedies are pasted into
// shells.
internal static class ShellWord
{
    private const string Plain = "_-./:@%+=,";

    public static string Of(string name) => name.Length > 0 && name[0] != '-'
        && name.All(static one => char.IsAsciiLetterOrDigit(one) || Plain.Contains(one))
            ? name
            : Quoted(name);

    public static string Quoted(string name) => $"'{name.Replace("'", "'\\''", StringComparison.Ordinal)}'";

    /// <summary>A file, which no command takes for an option.</summary>
    public static string OfFile(string path) => Of(NoOption(path));

    public static string QuotedFile(string path) => Quoted(NoOption(path));

    /// <summary>An option and its value, which is not taken for another option.</summary>
    public static string Option(string option, string value) => $"{option}{(value.StartsWith('-') ? "=" : " ")}{Quoted(value)}";

    private static string NoOption(string path) => path.StartsWith('-') ? $"./{path}" : path;
}
