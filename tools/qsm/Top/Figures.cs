using System.Globalization;

namespace QuickSilver.Tool.Top;

// Figures for people, as short as they can be read. A figure that was not measured is a dash.
internal static class Figures
{
    private static readonly string[] Thousands = ["", "k", "M", "G", "T"];
    private static readonly string[] Binary = ["B", "KiB", "MiB", "GiB", "TiB"];

    public static string Number(long number) => Short(number, 1000, Thousands, "");

    public static string Bytes(long bytes) => Short(bytes, 1024, Binary, " ");

    public static string Micros(long micros) => micros switch
    {
        0 => "–",
        < 1_000 => Text($"{micros} µs"),
        < 100_000 => Text($"{micros / 1e3:0.0} ms"),
        < 1_000_000 => Text($"{micros / 1e3:0} ms"),
        _ => Text($"{micros / 1e6:0.0} s"),
    };

    public static string Span(long millis) => millis switch
    {
        < 10_000 => Text($"{millis / 1e3:0.0} s"),
        < 120_000 => Text($"{millis / 1e3:0} s"),
        < 7_200_000 => Text($"{millis / 60e3:0} min"),
        < 172_800_000 => Text($"{millis / 3.6e6:0} h"),
        _ => Text($"{millis / 86.4e6:0} days"),
    };

    public static string PerMille(long share) => Text($"{share / 10.0:0}%");

    /// <summary>A limit for which there was less than half a percent of the time is none.</summary>
    public static string Limit(SendLimit limit, long perMille) =>
        limit == SendLimit.None || perMille < 5 ? "–" : $"{limit.ToString().ToLowerInvariant()} {PerMille(perMille)}";

    public static string Limit(SendLimit limit) => limit == SendLimit.None ? "–" : limit.ToString().ToLowerInvariant();

    private static string Short(long number, double step, string[] units, string gap)
    {
        double value = number;
        int unit = 0;
        while (Math.Abs(value) >= step && unit < units.Length - 1)
        {
            value /= step;
            unit++;
        }

        return unit == 0 ? Text($"{number}{gap}{units[0]}")
            : value < 10 ? Text($"{value:0.0}{gap}{units[unit]}")
            : Text($"{value:0}{gap}{units[unit]}");
    }

    private static string Text(FormattableString text) => text.ToString(CultureInfo.InvariantCulture);
}
