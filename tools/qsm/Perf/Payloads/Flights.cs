using System.Globalization;

namespace QuickSilver.Tool.Perf.Payloads;

// Sixteen departures of 1 January 2001 (US Department of Transportation, Bureau of Transportation Statistics; public domain),
// so that typed messages differ from one another as those of a board do. Time, airports, distance and delay are real, the rest
// is made up.
internal static class Flights
{
    private const string Day = "2001-01-01 ";

    private static readonly (string At, string Origin, string Destination, int Miles, int DelayMinutes)[] Rows =
    [
        ("00:47", "DTW", "LAS", 1750, 66), ("01:39", "LAS", "PHX", 256, 4), ("06:22", "DCA", "MSP", 931, -26),
        ("06:35", "BWI", "BOS", 370, -4), ("07:12", "ORD", "PHL", 678, 23), ("07:20", "MSP", "DEN", 680, -6),
        ("07:34", "MIA", "MSP", 1501, -7), ("07:40", "SFO", "JFK", 2586, 13), ("07:55", "LGA", "DFW", 1389, 25),
        ("08:08", "PHL", "PHX", 2075, -26), ("08:36", "SLC", "STL", 1156, 34), ("08:41", "SJC", "LAS", 387, -3),
        ("09:06", "SAN", "LAX", 109, 2), ("09:24", "IAH", "PIT", 1117, -4), ("09:24", "PIT", "SAN", 2106, -5),
        ("10:20", "PHX", "ORD", 1440, 12),
    ];

    private static readonly Dictionary<string, string> Cities = new()
    {
        ["BOS"] = "Boston Logan",
        ["BWI"] = "Baltimore Washington",
        ["DCA"] = "Washington National",
        ["DEN"] = "Denver",
        ["DFW"] = "Dallas Fort Worth",
        ["DTW"] = "Detroit Metropolitan",
        ["IAH"] = "Houston Intercontinental",
        ["JFK"] = "New York Kennedy",
        ["LAS"] = "Las Vegas McCarran",
        ["LAX"] = "Los Angeles",
        ["LGA"] = "New York LaGuardia",
        ["MIA"] = "Miami",
        ["MSP"] = "Minneapolis Saint Paul",
        ["ORD"] = "Chicago O'Hare",
        ["PHL"] = "Philadelphia",
        ["PHX"] = "Phoenix Sky Harbor",
        ["PIT"] = "Pittsburgh",
        ["SAN"] = "San Diego Lindbergh",
        ["SFO"] = "San Francisco",
        ["SJC"] = "San Jose",
        ["SLC"] = "Salt Lake City",
        ["STL"] = "Saint Louis Lambert",
    };

    /// <summary>As many as a power of two, so that a message's number chooses its flight by a mask.</summary>
    public static int Count => Rows.Length;

    public static Departure[] Packed() => [.. Rows.Select((row, i) => new Departure
    {
        Scheduled = At(row.At),
        Expected = At(row.At).AddMinutes(row.DelayMinutes),
        Origin = PackedText.Pack(row.Origin),
        Destination = PackedText.Pack(row.Destination),
        Carrier = PackedText.Pack("UAL"),
        Flight = PackedText.Pack(Flight(i)),
        TailNumber = PackedText.Pack(TailNumber(i)),
        Aircraft = PackedText.Pack(row.Miles > 1200 ? "B752" : "MD82"),
        Gate = PackedText.Pack(Gate(i)),
        Status = (FlightStatus)(i % 3),
        DistanceMiles = row.Miles,
        DelayMinutes = row.DelayMinutes,
        Seats = 140 + i,
        Passengers = 120 + i,
        FuelTons = Fuel(row.Miles),
        TakeoffTons = 61.5 + Fuel(row.Miles),
        Latitude = 33.25 + i,
        Longitude = -118.5 + (2 * i),
        SpeedKnots = 430.5 + i,
        Booking = new Guid(i, 4711, 42, 1, 2, 3, 4, 5, 6, 7, 8),
    })];

    public static TextDeparture[] WithTexts() => [.. Rows.Select((row, i) => new TextDeparture
    {
        Scheduled = At(row.At),
        Expected = At(row.At).AddMinutes(row.DelayMinutes),
        Origin = row.Origin,
        OriginName = $"{Cities[row.Origin]} International",
        Destination = row.Destination,
        DestinationName = $"{Cities[row.Destination]} International",
        Carrier = "United Airlines",
        Flight = Flight(i),
        TailNumber = TailNumber(i),
        Gate = Gate(i),
        Status = (FlightStatus)(i % 3),
        DistanceMiles = row.Miles,
        DelayMinutes = row.DelayMinutes,
        FuelTons = Fuel(row.Miles),
    })];

    private static DateTime At(string time) => DateTime.Parse(Day + time, CultureInfo.InvariantCulture);

    private static string Flight(int i) => $"UA{412 + (17 * i)}";

    private static string TailNumber(int i) => $"N{375 + i}UA";

    private static string Gate(int i) => $"{(char)('A' + (i % 5))}{10 + i}";

    private static double Fuel(int miles) => 4.25 + (miles * 0.0075);
}
