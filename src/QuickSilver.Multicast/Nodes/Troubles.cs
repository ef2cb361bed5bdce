using QuickSilver.Core.Diagnostics;

namespace QuickSilver.Multicast.Nodes;

// The troubles of a node that still works, each with its owner, in the order in which they began. Only the core thread begins and ends
// them; any thread may read the oldest.
internal sealed class Troubles
{
    // More would not be read.
    private const int MostShown = 16;

    private readonly List<(object Of, Trouble What)> _all = [];
    private volatile Trouble[] _oldest = [];

    /// <summary>The oldest troubles, 16 at most. Can be read from any thread.</summary>
    public IReadOnlyList<Trouble> Oldest => _oldest;

    /// <summary>The oldest trouble in sentences; null if there is none. Can be read from any thread.</summary>
    public string? First => _oldest is [var first, ..] ? first.Description : null;

    /// <summary>
    /// Begins the trouble of an owner. If the owner has one already, it keeps its place and its time, and gets the new text.
    /// </summary>
    public void Begin(object of, Trouble trouble)
    {
        int at = _all.FindIndex(one => ReferenceEquals(one.Of, of));
        if (at < 0)
        {
            at = _all.Count;
            _all.Add((of, trouble));
        }
        else
        {
            _all[at] = (of, trouble with { Since = _all[at].What.Since });
        }

        if (at < MostShown)
        {
            Show();
        }
    }

    public void End(object of)
    {
        if (_all.RemoveAll(one => ReferenceEquals(one.Of, of)) > 0)
        {
            Show();
        }
    }

    private void Show() => _oldest = [.. _all.Take(MostShown).Select(static one => one.What)];
}
