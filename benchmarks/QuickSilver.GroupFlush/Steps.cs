using System.Diagnostics;
using System.Globalization;

namespace QuickSilver.GroupFlush;

// One change of the members: when it was asked for, when the service made the configuration of its view, and when the first and the last
// member got the view.
internal sealed record Steps(long Asked, long Made, long First, long Last)
{
    public static string Json(List<Steps> all) => string.Create(
        CultureInfo.InvariantCulture,
        $"{{\"count\":{all.Count},\"all\":{Json(all, static one => one.Asked, static one => one.Last)},"
        + $"\"toConfiguration\":{Json(all, static one => one.Asked, static one => one.Made)},"
        + $"\"toFirstMember\":{Json(all, static one => one.Made, static one => one.First)},"
        + $"\"toLastMember\":{Json(all, static one => one.First, static one => one.Last)}}}");

    private static string Json(List<Steps> all, Func<Steps, long> from, Func<Steps, long> to)
    {
        double[] took = [.. all.Select(one => Stopwatch.GetElapsedTime(from(one), to(one)).TotalMilliseconds).Order()];
        return string.Create(
            CultureInfo.InvariantCulture, $"{{\"p50\":{At(took, 0.5):F1},\"p99\":{At(took, 0.99):F1},\"max\":{At(took, 1):F1}}}");
    }

    // The least value that this part of all does not exceed.
    private static double At(double[] sorted, double part) =>
        sorted.Length == 0 ? 0 : sorted[Math.Max(0, (int)Math.Ceiling(part * sorted.Length) - 1)];
}
