using QuickSilver.Multicast.Nodes;

namespace QuickSilver.Multicast.Stability;

// How the members of a view form rings of a bounded size (proposed in 000, section 4.1). The members of a partition
// form one ring, or several if the partition is larger than a ring may be. The leaders of up to ringSize neighbouring rings form a ring of
// the next level, until one ring is left. A view that fits into one ring has only that one.
//
// Invariant: every ring is an interval of ranks. So every node computes the same rings from the view alone, without a message, and keeps
// no state per member.
internal sealed class RingShape
{
    // The number of rings at each level.
    private readonly int[] _counts;
    private readonly int _members;

    public RingShape(int members, int partitions, int ringSize)
    {
        _members = members;
        var counts = new List<int>();
        int rings = 1;
        if (members > ringSize)
        {
            rings = partitions * Interval.Parts(Interval.Parts(members, partitions), ringSize);
        }

        counts.Add(rings);
        while (rings > 1)
        {
            rings = Interval.Parts(rings, ringSize);
            counts.Add(rings);
        }

        _counts = [.. counts];
    }

    public int Levels => _counts.Length;

    /// <summary>The number of rings at the level; one at the last level.</summary>
    public int RingsAt(int level) => _counts[level];

    /// <summary>The ring of the level to which the rank belongs, itself or through leaders.</summary>
    public int RingOf(int level, int rank)
    {
        int ring = Interval.PartOf(rank, _members, _counts[0]);
        for (int i = 1; i <= level; i++)
        {
            ring = Interval.PartOf(ring, _counts[i - 1], _counts[i]);
        }

        return ring;
    }

    /// <summary>The seats of a ring. They are ranks at level 0, and rings of the level below at the other levels.</summary>
    public (int First, int End) SeatsOf(int level, int ring)
    {
        int of = level == 0 ? _members : _counts[level - 1];
        return (Interval.Start(ring, of, _counts[level]), Interval.Start(ring + 1, of, _counts[level]));
    }

    /// <summary>The seat of the rank, or of its ring, in its ring of the level.</summary>
    public int SeatOf(int level, int rank) => level == 0 ? rank : RingOf(level - 1, rank);

    /// <summary>The ranks under a ring.</summary>
    public (int First, int End) RanksOf(int level, int ring) => (FirstRank(level, ring), FirstRank(level, ring + 1));

    /// <summary>The ranks that a seat represents; the first live one occupies it.</summary>
    public (int First, int End) RanksOfSeat(int level, int seat) => level == 0 ? (seat, seat + 1) : RanksOf(level - 1, seat);

    private int FirstRank(int level, int ring)
    {
        int start = ring;
        for (int i = level; i >= 0; i--)
        {
            start = Interval.Start(start, i == 0 ? _members : _counts[i - 1], _counts[i]);
        }

        return start;
    }
}
