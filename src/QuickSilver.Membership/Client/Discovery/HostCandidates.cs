using System.Net;
using QuickSilver.Core.Environment;

namespace QuickSilver.Membership.Client.Discovery;

// What datagrams have named and nothing has proved yet: a fair sample of bounded size of all that came since one was last taken.
//
// Intuition: a liar can answer with as many addresses as it likes, and before all others. So answers that are early, or many, must not shut
// others out. Each answer is kept with the same probability (Vitter's algorithm R), and one of those kept is taken at random. What goes
// wrong: of a thousand answers of which one is true, that one is kept with a chance of sixteen in a thousand, so it takes several
// questions. Nothing better distinguishes them: a peer that can lie in a datagram can also lie about its origin.
internal sealed class HostCandidates(INodeEnvironment environment)
{
    /// <summary>More than honest hosts ever are; all of them can be tried within a minute.</summary>
    public const int Most = 16;

    private readonly List<IPEndPoint> _kept = [];
    // That came while there was no place.
    private int _over;

    public int Count => _kept.Count;

    public void Add(IPEndPoint candidate)
    {
        if (_kept.Contains(candidate))
        {
            return;
        }

        if (_kept.Count < Most)
        {
            _kept.Add(candidate);
            return;
        }

        int place = Chance(Most + ++_over);
        if (place < Most)
        {
            _kept[place] = candidate;
        }
    }

    /// <summary>Takes one of those that are kept; there must be one.</summary>
    public IPEndPoint Take()
    {
        int place = Chance(_kept.Count);
        var taken = _kept[place];
        _kept[place] = _kept[^1];
        _kept.RemoveAt(_kept.Count - 1);
        _over = 0;
        return taken;
    }

    public void Clear()
    {
        _kept.Clear();
        _over = 0;
    }

    private int Chance(int below) => (int)(environment.NextRandom() % (ulong)below);
}
