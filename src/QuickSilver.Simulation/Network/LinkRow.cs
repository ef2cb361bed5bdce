namespace QuickSilver.Simulation.Network;

// The links of one node to others, by their numbers. Most nodes talk to few: then they lie in a table of those; from a
// sixteenth of all on in an array, which is found faster.
internal sealed class LinkRow
{
    private const int SparseShare = 16;

    private Dictionary<int, SimulatedLink>? _few = [];
    private SimulatedLink?[] _all = [];

    public IEnumerable<SimulatedLink> Links => _few?.Values ?? _all.OfType<SimulatedLink>();

    public SimulatedLink? Find(int to) =>
        _few is null ? to < _all.Length ? _all[to] : null : _few.GetValueOrDefault(to);

    public void Add(int to, SimulatedLink link, int nodes)
    {
        if (_few is not null)
        {
            _few.Add(to, link);
            if (_few.Count * SparseShare > nodes)
            {
                Spread(nodes);
            }

            return;
        }

        if (to >= _all.Length)
        {
            Array.Resize(ref _all, Math.Max(to + 1, nodes));
        }

        _all[to] = link;
    }

    private void Spread(int nodes)
    {
        _all = new SimulatedLink?[nodes];
        foreach (var (to, link) in _few!)
        {
            _all[to] = link;
        }

        _few = null;
    }
}
