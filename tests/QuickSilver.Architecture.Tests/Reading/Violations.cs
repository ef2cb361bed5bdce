namespace QuickSilver.Architecture.Tests.Reading;

// Fails with every violation on a line of its own, so that one run shows all that must be corrected.
internal static class Violations
{
    public static void AssertNone(IEnumerable<string> violations)
    {
        var all = violations.Distinct().ToList();
        Assert.True(all.Count == 0, $"{all.Count} violations:\n{string.Join('\n', all)}");
    }
}
