using QuickSilver.Serialization.Dynamic;

namespace QuickSilver.Hosting.Configuration;

// The valid key that a user probably meant who wrote another one. Keys have parts, of which the last says most.
internal static class NearestKey
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
                NearestName.Distance(written, name), NearestName.Distance(Last(written), Last(name)) + (InOneGroup(written, name) ? 0 : 1));
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
}
