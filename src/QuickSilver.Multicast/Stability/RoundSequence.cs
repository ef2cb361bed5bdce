namespace QuickSilver.Multicast.Stability;

// Determines which rounds of a ring a member takes part in: the next ones of the leader that it knows. A round of another leader, or one
// that is not among the next, usually is late, or is a false claim. If the member trusted a number that is far ahead, all true rounds
// would look late forever. So it follows such rounds only if they continue for a while. Then there is another leader of which this member
// does not know yet, or this member was disconnected, or the number that it trusted was false (F22).
internal struct RoundSequence
{
    // How many rounds a member may have missed.
    private const long MostMissed = 4096;

    private int _otherLeader;
    private long _other;
    private TimeSpan _otherSince;

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

        Set(leader, round);
        return true;
    }

    public void Set(int leader, long round)
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
