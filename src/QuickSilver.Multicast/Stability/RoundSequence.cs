namespace QuickSilver.Multicast.Stability;

// Which rounds of a ring a member takes part in: the next ones of the leader that it knows. A round of another leader, or one that is
// not among the next, is late as a rule, or told falsely: taken at its word, a number far ahead would make all true ones look late
// for ever. So such rounds count only when they go on: the leader is another one, of whom this member has not heard yet, or this
// member was cut off, or what it took for true was not.
internal struct RoundSequence
{
    // Rounds that a member may have missed.
    private const long MostMissed = 4096;

    private int _otherLeader;
    private long _other;
    private TimeSpan _otherSince;

    // The newest round seen.
    public long Round { get; private set; }

    public int Leader { get; private set; }

    /// <summary>Whether to take part in this round.</summary>
    /// <param name="leader">The rank of who is said to have begun it.</param>
    /// <param name="round">Its number.</param>
    /// <param name="isExpected">This member takes that one for the leader.</param>
    /// <param name="isByLeader">It comes from the leader itself.</param>
    /// <param name="now">The time.</param>
    /// <param name="patience">How long others are to go on.</param>
    public bool TryFollow(int leader, long round, bool isExpected, bool isByLeader, TimeSpan now, TimeSpan patience)
    {
        bool isFirst = Round == 0 || leader != Leader;
        bool isAhead = round > Round && (isByLeader || round - Round <= MostMissed);
        bool isNext = isFirst ? isExpected : isAhead;
        if (!isNext && !GoesOn(leader, round, now, patience))
        {
            return false;
        }

        Set(leader, round);
        return true;
    }

    public void Set(int leader, long round)
    {
        Leader = leader;
        Round = round;
        _other = 0;
    }

    private bool GoesOn(int leader, long round, TimeSpan now, TimeSpan patience)
    {
        bool isNext = _other != 0 && leader == _otherLeader && round > _other && round - _other <= MostMissed;
        _otherSince = isNext ? _otherSince : now;
        _otherLeader = leader;
        _other = round;
        return isNext && now - _otherSince >= patience;
    }
}
