using QuickSilver.Membership.Views;
using QuickSilver.Simulation.Checkers.Records;

namespace QuickSilver.Simulation.Checkers;

// I17: tables per topic, region and peer return to their size after churn. An incarnation of a node is read whenever it has the same topics
// open and the cluster is quiet; topics, regions and peers come and go between two readings. No table may have notably more entries than at
// the first two readings; at the first one, the incarnation may not know much yet. An incarnation that becomes the host of the membership
// service starts again, with the tables of the service.
internal sealed class TablesChecker : HistoryChecker
{
    private const int ReadingsOfBaseline = 2;

    private readonly Dictionary<(NodeKey Life, bool IsHost), Baseline> _first = [];

    public override string Invariant => "I17";

    /// <summary>How many more entries a table may have than at first, for entries that vary without churn, such as spare objects.</summary>
    public long Allowance { get; init; } = 24;

    /// <summary>Tables that remember the past, up to a number of entries: they grow until then.</summary>
    public IReadOnlyDictionary<string, long> Bounded { get; init; } = new Dictionary<string, long>();

    /// <summary>
    /// Tables that are filled when a node becomes a leader, from another table that every node has: how many times the entries of that
    /// table they may have.
    /// </summary>
    public IReadOnlyDictionary<string, (string Table, int Times)> OfLeaders { get; init; } =
        new Dictionary<string, (string Table, int Times)>();

    public override void On(in TableReading reading)
    {
        if (!_first.TryGetValue((reading.Life, reading.IsHost), out var baseline))
        {
            _first[(reading.Life, reading.IsHost)] = baseline = new Baseline();
        }

        if (baseline.Readings < ReadingsOfBaseline)
        {
            baseline.Add(reading.Sizes);
            return;
        }

        foreach (var (table, size) in reading.Sizes)
        {
            long before = baseline.Sizes.GetValueOrDefault(table);
            long most = Math.Max(before + (before / 2) + Allowance, Bounded.GetValueOrDefault(table));
            if (OfLeaders.TryGetValue(table, out var led))
            {
                most = Math.Max(most, reading.Sizes.GetValueOrDefault(led.Table) * led.Times);
            }

            if (size > most)
            {
                string growth = $"{size} entries in {table}; there were {before} with the same topics open";
                Violate(reading.At, $"Node {reading.Node} ({reading.Life}) has {growth}.");
            }
        }
    }

    private sealed class Baseline
    {
        public Dictionary<string, long> Sizes { get; } = [];

        public int Readings { get; private set; }

        public void Add(IReadOnlyDictionary<string, long> sizes)
        {
            Readings++;
            foreach (var (table, size) in sizes)
            {
                Sizes[table] = Math.Max(Sizes.GetValueOrDefault(table), size);
            }
        }
    }
}
