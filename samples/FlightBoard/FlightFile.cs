using System.Globalization;

namespace FlightBoard;

// The departures that the publisher replays, and that each subscriber holds against what it received.
internal static class FlightFile
{
    private const string TimeFormat = "yyyy-MM-dd HH:mm";

    public static IReadOnlyList<Departure> Read() => File.ReadLines(Path.Combine(AppContext.BaseDirectory, "Data", "flights.csv"))
        .Skip(1)
        .Select(Parse)
        .ToList();

    public static string TopicOf(string origin) => $"flights/{origin}";

    private static Departure Parse(string line)
    {
        string[] fields = line.Split(',');
        return new Departure(
            DateTime.ParseExact(fields[0], TimeFormat, CultureInfo.InvariantCulture),
            fields[1],
            fields[2],
            int.Parse(fields[3], CultureInfo.InvariantCulture),
            int.Parse(fields[4], CultureInfo.InvariantCulture));
    }
}
