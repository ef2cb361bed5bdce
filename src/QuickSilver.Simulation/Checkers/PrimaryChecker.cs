using QuickSilver.Membership.Views;
using QuickSilver.Simulation.Checkers.Records;

namespace QuickSilver.Simulation.Checkers;

// I9: at most one primary component. Each incarnation of the membership service issues a sequence of configurations, and the primary
// component consists of the nodes that follow the sequence that continues. So a sequence ends where the next one begins, and in the end all
// live nodes follow the same one. If nodes host the service themselves, a partitioned network may have a host on each side, as the
// guarantees say; then only the end is checked.
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
            string services = string.Join(", ", followed.Select(Name));
            Violate(_last, $"The live nodes follow {followed.Length} incarnations of the service: {services}.");
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
                Violate(configured.At, $"{node} follows {own}, which issued configurations at the same time as {its}.");
            }
        }
    }

    private static string Name(ulong service) => $"service {service:x16}";
}
