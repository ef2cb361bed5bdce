namespace QuickSilver.Multicast;

// The troubles of a node that still works, each with its owner, in the order in which they began. Only the core thread begins and ends
// them; any thread may read the oldest.
internal sealed class Troubles
{
    private readonly List<(object Of, string What)> _all = [];
    private volatile string? _first;

    /// <summary>The oldest trouble, as a sentence; null if there is none. Can be read from any thread.</summary>
    public string? First => _first;

    /// <summary>Begins the trouble of an owner. If the owner has one already, the trouble keeps its place and gets the new text.</summary>
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
