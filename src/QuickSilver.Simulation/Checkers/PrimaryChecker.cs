using QuickSilver.Membership.Views;

namespace QuickSilver.Simulation.Checkers;

// I9: at most one primary component. Each life of the membership service makes a line of configurations; the primary is who
// follows the line that goes on. So a line ends where the next begins, and in the end all living nodes follow one. Where nodes
// host the service themselves a torn network may have a host on each side, as the guarantees say: then only the end counts.
internal sealed class PrimaryChecker : HistoryChecker
{
    private readonly Dictionary<ulong, (long First, long Last)> _lines = [];
    private readonly Dictionary<NodeKey, ulong> _followed = [];
    private TimeSpan _last;

    public override string Invariant => "I9";

    public bool HostsMayPart { get; init; }

    public override void On(in Configured configured)
    {
        _last = configured.At;
        var (service, number) = (configured.Change.Service, configured.Number);
        _followed[configured.Life] = service;
        bool isKnown = _lines.TryGetValue(service, out var line);
        (long First, long Last) longer = isKnown ? (Math.Min(line.First, number), Math.Max(line.Last, number)) : (number, number);
        _lines[service] = longer;
        if (!HostsMayPart && longer != line)
        {
            Compare(configured, longer);
        }
    }

    public override void OnStopped(TimeSpan at, int node, NodeKey life) => _followed.Remove(life);

    public override void OnEnd()
    {
        ulong[] followed = [.. _followed.Values.Distinct().Order()];
        if (followed.Length > 1)
        {
            Violate(_last, $"The living nodes follow {followed.Length} lives of the service: {string.Join(", ", followed.Select(Name))}.");
        }
    }

    private void Compare(in Configured configured, (long First, long Last) line)
    {
        foreach (var (service, other) in _lines)
        {
            if (service != configured.Change.Service && other.First <= line.Last && line.First <= other.Last)
            {
                string own = $"{Name(configured.Change.Service)} ({line.First:x} to {line.Last:x})";
                string its = $"{Name(service)} ({other.First:x} to {other.Last:x})";
                string node = $"Node {configured.Node} ({configured.Life})";
                Violate(configured.At, $"{node} follows {own}, which made configurations beside {its}.");
            }
        }
    }

    private static string Name(ulong service) => $"service {service:x16}";
}
