namespace QuickSilver.Hosting.Configuration;

// Which of the valid names somebody meant who wrote another one.
internal static class NearestName
{
    // A third of the characters may differ, and two of a short name.
    private const int LeastDifference = 2;
    private const int Share = 3;

    /// <summary>The nearest of the names, for keys also by their last part alone; null if none is near.</summary>
    public static string? Of(string written, IEnumerable<string> valid)
    {
        string? nearest = null;
        int least = Math.Max(LeastDifference, Last(written).Length / Share) + 1;
        foreach (string name in valid)
        {
            int difference = Math.Min(
                Difference(written, name), Difference(Last(written), Last(name)) + (InOneGroup(written, name) ? 0 : 1));
            if (difference < least)
            {
                (nearest, least) = (name, difference);
            }
        }

        return nearest;
    }

    private static string Last(string key) => key[(key.LastIndexOf(':') + 1)..];

    private static bool InOneGroup(string one, string other) =>
        one[..^Last(one).Length].Equals(other[..^Last(other).Length], StringComparison.OrdinalIgnoreCase);

    // How many characters must be added, removed or replaced (Levenshtein).
    private static int Difference(string one, string other)
    {
        int[] row = [.. Enumerable.Range(0, other.Length + 1)];
        for (int i = 0; i < one.Length; i++)
        {
            int diagonal = row[0];
            row[0] = i + 1;
            for (int k = 0; k < other.Length; k++)
            {
                int replaced = diagonal + (char.ToUpperInvariant(one[i]) == char.ToUpperInvariant(other[k]) ? 0 : 1);
                diagonal = row[k + 1];
                row[k + 1] = Math.Min(replaced, Math.Min(row[k], row[k + 1]) + 1);
            }
        }

        return row[^1];
    }
}
