using QuickSilver.Multicast.Stability.Tokens;

namespace QuickSilver.Multicast.Stability;

// The seats of one ring in their order, and the members that occupy them: at level 0 all members, above it the leaders of the rings below.
internal sealed class RingSeats
{
    private readonly RingHierarchy _rings;
    private readonly int _level;
    private readonly int _ring;
    private readonly int _first;
    private readonly int _end;
    // The seat of this member.
    private readonly int _own;

    public RingSeats(RingHierarchy rings, int level)
    {
        _rings = rings;
        _level = level;
        _ring = rings.Shape.RingOf(level, rings.SelfRank);
        (_first, _end) = rings.Shape.SeatsOf(level, _ring);
        _own = rings.Shape.SeatOf(level, rings.SelfRank);
    }

    /// <summary>The rank that leads the ring; -1 if none of its members is live.</summary>
    public int Leader => _rings.LeaderOf(_level, _ring);

    /// <summary>Whether the member with this rank is under this ring.</summary>
    public bool IsIn(int rank) => _rings.Shape.RingOf(_level, rank) == _ring;

    /// <summary>
    /// The rank in the next occupied seat that the token, if given, does not skip; this member's rank if there is none. If the token skips
    /// the one that this member considers in the leader's seat, it is the leader: the other one was removed, which is not known here yet.
    /// </summary>
    public int Successor(Token? token)
    {
        int seats = _end - _first;
        for (int i = 1; i < seats; i++)
        {
            int seat = _first + ((_own - _first + i) % seats);
            int rank = _rings.OccupantOf(_level, seat);
            if (rank < 0)
            {
                continue;
            }

            if (token is null || !token.Skipped.Contains(rank))
            {
                return rank;
            }

            int leader = _rings.Live.RankOf(token.Leader);
            if (seat == _rings.Shape.SeatOf(_level, leader))
            {
                return leader;
            }
        }

        return _rings.SelfRank;
    }

    /// <summary>
    /// Lets the token skip members under this ring that were removed, as many as it has room for. Not those that have closed the view: a
    /// member that passes the token to one of them learns that from its answer, and otherwise would not.
    /// </summary>
    public void SkipRemoved(Token token)
    {
        var (from, end) = _rings.Shape.RanksOf(_level, _ring);
        for (int rank = from; rank < end && token.Skipped.Count < Token.MaxSkipped; rank++)
        {
            if (_rings.Live.IsRemoved(rank))
            {
                token.Skipped.Add(rank);
            }
        }
    }

    /// <summary>The rank in the previous occupied seat; this member's rank if there is none.</summary>
    public int Predecessor()
    {
        int seats = _end - _first;
        for (int i = 1; i < seats; i++)
        {
            int rank = _rings.OccupantOf(_level, _first + ((_own - _first + seats - i) % seats));
            if (rank >= 0)
            {
                return rank;
            }
        }

        return _rings.SelfRank;
    }

    /// <summary>The ranks in all other seats.</summary>
    public IEnumerable<int> Others()
    {
        for (int seat = _first; seat < _end; seat++)
        {
            int rank = _rings.OccupantOf(_level, seat);
            if (rank >= 0 && rank != _rings.SelfRank)
            {
                yield return rank;
            }
        }
    }

    public override string ToString() => $"{_first}-{_end - 1}";
}
