using QuickSilver.Multicast.Stability.Tokens;

namespace QuickSilver.Multicast.Stability.Rounds;

// Up to which configuration the members of a view agree on all that departed nodes have sent in it, as one ring knows it (002, section
// 3.4: the flush makes a consistent cut).
//
// Intuition: a member that has applied the removal of a node takes nothing from that node any more. So what it then reports of the node's
// streams is all that it can ever bring up by itself. When each member has reported so, and all hold what was found, no packet of the node
// is on its way from one member to another.
// Application: the smallest configuration that the seats have applied goes around with the token, and moves up from ring to ring. The root
// compares it with what the round has found: if all streams of departed senders are settled, the members agree through that configuration.
// That moves down with the tokens. It takes a round of each ring up, and one of each down.
// What goes wrong: a member is silent, or disputes who the members are, or a record of a departed node does not fit into the token, and the
// round shows nothing; a packet comes to light, and is repaired first; a member of a version that knows no agreement passes the token on
// without it, and the members wait for a while as long as no packet can be on its way (ViewClosing).
//
// Invariants: what a ring reports, each member under it has reported after it applied that configuration. Agreement only grows.
internal sealed class RingAgreement(IAgreeingView view, int level, bool isRoot)
{
    /// <summary>
    /// All members under the ring have reported what they know of the nodes that departed up to this configuration, and the results of the
    /// ring contain it.
    /// </summary>
    public long ReportedThrough { get; private set; }

    /// <summary>What a whole round has carried to all seats.</summary>
    public long DistributedThrough { get; private set; }

    /// <summary>Whether more rounds may show the members of the ring that they agree.</summary>
    public bool IsWanted => DistributedThrough < view.Wanted;

    private long Own => level == 0 ? view.Applied : view.ReportedUnder(level);

    /// <summary>At the leader: the token is released.</summary>
    public void Begin(Token token)
    {
        token.Applied = Own;
        token.Agreed = view.AgreedThrough;
    }

    /// <summary>At another member: the token is here. What this member reports in it is added after this.</summary>
    public void OnVisit(Token token)
    {
        token.Applied = Math.Min(token.Applied, Own);
        view.AgreeThrough(token.Agreed);
    }

    /// <summary>At the leader: the token has returned. Returns whether this round has shown more of what is wanted.</summary>
    /// <param name="token">The token.</param>
    /// <param name="isWhole">Whether all members were visited, and none disputes who the members are.</param>
    public bool OnRound(Token token, bool isWhole)
    {
        if (!isWhole)
        {
            return false;
        }

        bool isWanted = IsWanted;
        long before = ReportedThrough + DistributedThrough;
        ReportedThrough = Math.Max(ReportedThrough, token.Applied);
        DistributedThrough = Math.Max(DistributedThrough, token.Agreed);
        if (isRoot && ReportedThrough > view.AgreedThrough && view.AreDepartedSettled())
        {
            view.AgreeThrough(ReportedThrough);
        }

        return isWanted && ReportedThrough + DistributedThrough > before;
    }
}

// The view whose members agree, at one of them.
internal interface IAgreeingView
{
    /// <summary>The configuration that this member has applied.</summary>
    long Applied { get; }

    /// <summary>The configuration through which agreement is wanted; 0: none is.</summary>
    long Wanted { get; }

    /// <summary>The configuration through which the members are known to agree.</summary>
    long AgreedThrough { get; }

    /// <summary>A token reports agreement, or the root has found it.</summary>
    void AgreeThrough(long configuration);

    /// <summary>What the ring below this level, which this member leads, has reported.</summary>
    long ReportedUnder(int level);

    /// <summary>At the root's leader, after a round: whether all members hold what any of them knows of departed senders.</summary>
    bool AreDepartedSettled();
}
