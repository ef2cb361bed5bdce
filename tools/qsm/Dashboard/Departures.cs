using QuickSilver.Tool.Top;

namespace QuickSilver.Tool.Dashboard;

// The nodes that were there and are not any more: a user who looks up a minute after a crash finds which it was. Bounded. Not
// thread-safe.
internal sealed class Departures(int most, TimeSpan age)
{
    private readonly Dictionary<string, (string Address, string? Name, bool IsSilent)> _present = [];
    private readonly Queue<DepartedJson> _departed = [];

    /// <summary>Compares an answer with the one before.</summary>
    public IReadOnlyList<DepartedJson> Look(ClusterTables tables)
    {
        double now = tables.At.ToUnixTimeMilliseconds() / 1e3;
        var answer = tables.Nodes.ToDictionary(static row => row.Report.Node.Node.ToString());
        foreach (var (node, (address, name, isSilent)) in _present.Where(one => !answer.ContainsKey(one.Key)))
        {
            _departed.Enqueue(new DepartedJson(node, address, isSilent, now, name));
        }

        _present.Clear();
        foreach (var (node, row) in answer)
        {
            _present[node] = (row.Address, row.Report.Node.Name is { Length: > 0 } name ? name : null, row.SilentSeconds is not null);
        }

        while (_departed.Count > most || (_departed.TryPeek(out var oldest) && now - oldest.At > age.TotalSeconds))
        {
            _departed.Dequeue();
        }

        return [.. _departed];
    }
}
