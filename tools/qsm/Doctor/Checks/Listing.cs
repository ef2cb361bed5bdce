namespace QuickSilver.Tool.Doctor.Checks;

// Names in a sentence: not more of them than are read.
internal static class Listing
{
    private const int Most = 5;

    public static string Of(IReadOnlyList<string> names) => names.Count > Most
        ? $"{string.Join(", ", names.Take(Most))} and {names.Count - Most} more"
        : names.Count < 2 ? string.Concat(names) : $"{string.Join(", ", names.Take(names.Count - 1))} and {names[^1]}";
}
