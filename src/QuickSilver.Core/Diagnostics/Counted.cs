using System.Globalization;

namespace QuickSilver.Core.Diagnostics;

// A number of things in a sentence: "1 node", "2 nodes". The noun has a regular plural.
internal static class Counted
{
    public static string Of(long count, string noun) =>
        string.Create(CultureInfo.InvariantCulture, $"{count:N0} {noun}{(count == 1 ? "" : "s")}");
}
