namespace QuickSilver.Tool.Doctor.Keys;

// A name as a shell takes it for one word. Names come from command lines and from other hosts, and remedies are pasted into shells.
internal static class ShellWord
{
    private const string Plain = "_-./:@%+=,";

    public static string Of(string name) => name.Length > 0 && name[0] != '-'
        && name.All(static one => char.IsAsciiLetterOrDigit(one) || Plain.Contains(one))
            ? name
            : Quoted(name);

    public static string Quoted(string name) => $"'{name.Replace("'", "'\\''", StringComparison.Ordinal)}'";
}
