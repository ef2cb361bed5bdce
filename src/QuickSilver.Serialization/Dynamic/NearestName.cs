namespace QuickSilver.Serialization.Dynamic;

// The name that a user probably meant who wrote one that does not exist.
internal static class NearestName
{
    private const int MostChars = 64;

    /// <summary>The name that differs least, in at most a third of its characters and ignoring case; null if none is so near.</summary>
    public static string? Of(string wrong, IEnumerable<string> names)
    {
        string? nearest = null;
        int least = Math.Max(1, wrong.Length / 3) + 1;
        foreach (string name in names)
        {
            int distance = wrong.Length > MostChars || name.Length > MostChars ? int.MaxValue : Distance(wrong, name);
            if (distance < least)
            {
                (nearest, least) = (name, distance);
            }
        }

        return nearest;
    }

    /// <summary>
    /// The number of characters to insert, remove or replace, or of neighbours to exchange, ignoring case. Its cost grows with the product
    /// of both lengths.
    /// </summary>
    public static int Distance(string a, string b)
    {
        var rows = new int[a.Length + 1, b.Length + 1];
        for (int i = 0; i <= a.Length; i++)
        {
            for (int k = 0; k <= b.Length; k++)
            {
                rows[i, k] = i == 0 || k == 0 ? Math.Max(i, k) : Step(i, k);
            }
        }

        return rows[a.Length, b.Length];

        int Step(int i, int k)
        {
            int same = Same(i, k) ? 0 : 1;
            int least = Math.Min(Math.Min(rows[i - 1, k], rows[i, k - 1]) + 1, rows[i - 1, k - 1] + same);
            return i > 1 && k > 1 && Same(i, k - 1) && Same(i - 1, k) ? Math.Min(least, rows[i - 2, k - 2] + 1) : least;
        }

        bool Same(int i, int k) => char.ToUpperInvariant(a[i - 1]) == char.ToUpperInvariant(b[k - 1]);
    }
}
