namespace FlightBoard.Roles;

// The mean delay of all departures seen, and the airport where it is worst.
internal sealed class DelayFigures
{
    // Fewer departures say nothing about an airport.
    private const int LeastDepartures = 10;

    private readonly Dictionary<string, (long Count, long Minutes)> _byOrigin = [];
    private long _count;
    private long _minutes;

    public double MeanMinutes => _count == 0 ? 0 : (double)_minutes / _count;

    public void Add(Departure departure)
    {
        _count++;
        _minutes += departure.DelayMinutes;
        var (count, minutes) = _byOrigin.GetValueOrDefault(departure.Origin);
        _byOrigin[departure.Origin] = (count + 1, minutes + departure.DelayMinutes);
    }

    public (string Origin, double Minutes) Worst() => _byOrigin
        .Where(entry => entry.Value.Count >= LeastDepartures)
        .Select(entry => (Origin: entry.Key, Minutes: (double)entry.Value.Minutes / entry.Value.Count))
        .OrderByDescending(entry => entry.Minutes)
        .ThenBy(entry => entry.Origin, StringComparer.Ordinal)
        .FirstOrDefault((Origin: "", Minutes: 0));
}
