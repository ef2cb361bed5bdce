namespace QuickSilver.Multicast.Stability.Rounds;

// Which rounds of a ring a member takes part in, and whether it misses their token.
//
// It follows the next rounds of the leader that it knows. A round of another leader, or one that is not among the next, usually is late, or
// is a false claim. If the member trusted a number that is far ahead, all true rounds would look late forever. So it follows such rounds
// only if they continue for a while. Then there is another leader of which this member does not know yet, or this member was disconnected,
// or the number that it trusted was false (F22).
//
// It watches the leader: the token must come between two looks.
internal struct RingMember
{
    // How many rounds a member may have missed.
    private const long MostMissed = 4096;

    private int _otherLeader;
    private long _other;
    private TimeSpan _otherSince;
    private bool _isTokenSeen;

    // The newest round seen.
    public long Round { get; private set; }

    public int Leader { get; private set; }

    /// <summary>Whether to take part in this round.</summary>
    /// <param name="leader">The rank of the member that began the round, as the token shows.</param>
    /// <param name="round">The number of the round.</param>
    /// <param name="isExpected">Whether this member considers that member the leader.</param>
    /// <param name="isByLeader">Whether the token comes from the leader itself.</param>
    /// <param name="now">The current time.</param>
    /// <param name="patience">How long other rounds must continue before this member follows them.</param>
    public bool TryFollow(int leader, long round, bool isExpected, bool isByLeader, TimeSpan now, TimeSpan patience)
    {
        bool isFirst = Round == 0 || leader != Leader;
        bool isAhead = round > Round && (isByLeader || round - Round <= MostMissed);
        bool isNext = isFirst ? isExpected : isAhead;
        if (!isNext && !Continues(leader, round, now, patience))
        {
            return false;
        }

        _isTokenSeen = true;
        Set(leader, round);
        return true;
    }

    /// <summary>This member leads, and begins a round.</summary>
    public void Lead(int rank, long round) => Set(rank, round);

    /// <summary>The leader was removed. If a member of a lower rank leads then, it is the one that is expected.</summary>
    public void LoseLeader() => (Leader, Round, _other) = (0, 0, 0);

    /// <summary>Looks whether the token has come since the last look.</summary>
    public bool EndWatch()
    {
        bool isSeen = _isTokenSeen;
        _isTokenSeen = false;
        return isSeen;
    }

    private void Set(int leader, long round)
    {
        Leader = leader;
        Round = round;
        _other = 0;
    }

    private bool Continues(int leader, long round, TimeSpan now, TimeSpan patience)
    {
        bool isNext = _other != 0 && leader == _otherLeader && round > _other && round - _other <= MostMissed;
        _otherSince = isNext ? _otherSince : now;
        _otherLeader = leader;
        _other = round;
        return isNext && now - _otherSince >= patience;
    }
}
