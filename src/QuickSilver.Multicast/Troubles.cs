namespace QuickSilver.Multicast;

// What ails a node that goes on all the same, by who has it, in order of beginning. The core thread begins and ends them; from
// any thread the oldest can be read.
internal sealed class Troubles
{
    private readonly List<(object Of, string What)> _all = [];
    private volatile string? _first;

    /// <summary>The oldest, in a sentence; null when all is well. From any thread.</summary>
    public string? First => _first;

    /// <summary>Who has one already keeps its place and says it anew.</summary>
    public void Begin(object of, string what)
    {
        int at = _all.FindIndex(one => ReferenceEquals(one.Of, of));
        if (at < 0)
        {
            _all.Add((of, what));
        }
        else
        {
            _all[at] = (of, what);
        }

        _first = _all[0].What;
    }

    public void End(object of)
    {
        _all.RemoveAll(one => ReferenceEquals(one.Of, of));
        _first = _all.Count > 0 ? _all[0].What : null;
    }
}
