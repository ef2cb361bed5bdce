using QuickSilver.Membership.Views;

namespace QuickSilver.Simulation.Checkers;

// I17: tables per topic, region and peer return to their size after churn. A node's life is read whenever it has the same open and all is
// quiet; between two readings topics, regions and peers came and went. So no table holds notably more than at the first two readings: at
// the first a life may be too young to know much. A life that comes to host the membership service begins anew, with the service's tables.
internal sealed class TablesChecker : HistoryChecker
{
    private const int ReadingsOfBaseline = 2;

    private readonly Dictionary<(NodeKey Life, bool IsHost), Baseline> _first = [];

    public override string Invariant => "I17";

    /// <summary>How much more may lie in a table than at first: what comes and goes by itself, such as spare objects.</summary>
    public long Allowance { get; init; } = 24;

    /// <summary>Tables that remember what is over, up to a number of entries: until then they grow.</summary>
    public IReadOnlyDictionary<string, long> Bounded { get; init; } = new Dictionary<string, long>();

    /// <summary>
    /// Tables that are filled when a node comes to lead, from another table that it has in any case: how many times as many entries they
    /// may have as that one.
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
                string growth = $"{size} entries in {table}, where there were {before} with the same open";
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
