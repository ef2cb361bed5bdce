using QuickSilver.Simulation.Machines;

namespace QuickSilver.Simulation.Experiments;

// Which topics each node subscribes to, and how busy a topic is, when popularity follows Zipf's law: the topic of rank r is
// chosen, and sent to, in proportion to r^-alpha.
//
// "Subscribed to some 10% of the groups" in QSM's paper says no more than that, so there are two readings. Drawn: each node
// draws a tenth as many topics as there are, and popular ones come up again and again; at 10,000 topics it ends with some 134
// of them, which fits the paper's regions per node and topics per region. Distinct: it draws until it has a full tenth, that
// is 1,000, most of which are topics that few others have.
internal sealed class ZipfInterests
{
    private readonly double[] _busyUpTo;

    private ZipfInterests(int topics, double alpha)
    {
        _busyUpTo = new double[topics];
        double sum = 0;
        for (int rank = 0; rank < topics; rank++)
        {
            sum += Math.Pow(rank + 1, -alpha);
            _busyUpTo[rank] = sum;
        }

        Topics = topics;
        Alpha = alpha;
    }

    public double Alpha { get; }

    public int Topics { get; }

    /// <summary>The ranks of each node's topics, from 0, in ascending order.</summary>
    public required int[][] OfNode { get; init; }

    public static ZipfInterests Draw(int nodes, int topics, bool distinct, double alpha, double share, ulong seed)
    {
        var empty = new ZipfInterests(topics, alpha) { OfNode = [] };
        var dice = new SeededRandom(seed);
        int draws = Math.Max(1, (int)(topics * share));
        var interests = new int[nodes][];
        for (int node = 0; node < nodes; node++)
        {
            interests[node] = distinct ? empty.DrawDistinct(draws, dice) : empty.DrawAny(draws, dice);
        }

        return new ZipfInterests(topics, alpha) { OfNode = interests };
    }

    /// <summary>How much of all traffic goes to a topic.</summary>
    public double Traffic(int rank) => Math.Pow(rank + 1, -Alpha) / _busyUpTo[^1];

    public int DrawRank(SeededRandom dice)
    {
        int at = Array.BinarySearch(_busyUpTo, dice.NextUnit() * _busyUpTo[^1]);
        return Math.Min(at < 0 ? ~at : at, Topics - 1);
    }

    private int[] DrawAny(int draws, SeededRandom dice)
    {
        var chosen = new SortedSet<int>();
        for (int i = 0; i < draws; i++)
        {
            chosen.Add(DrawRank(dice));
        }

        return [.. chosen];
    }

    // The one with the lowest of these numbers would have been drawn first: the same as drawing until enough are different.
    private int[] DrawDistinct(int draws, SeededRandom dice)
    {
        var arrival = new double[Topics];
        var ranks = new int[Topics];
        for (int rank = 0; rank < Topics; rank++)
        {
            ranks[rank] = rank;
            arrival[rank] = -Math.Log(1 - dice.NextUnit()) * Math.Pow(rank + 1, Alpha);
        }

        Array.Sort(arrival, ranks);
        Array.Sort(ranks, 0, draws);
        return ranks[..draws];
    }
}
