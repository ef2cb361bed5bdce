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
// What goes wrong: a member is silent, or disputes who the members are, and the round shows nothing; a packet comes to light, and is
// repaired first; a member of a version that knows no agreement passes the token on without it, and the members wait for a while as long as
// no packet can be on its way (ViewClosing).
//
// Invariants: what a ring reports, each member under it has reported after it applied that configuration. Agreement only grows.
internal sealed class RingAgreement(RingHierarchy rings, int level)
{
    // What the last whole round has carried to all seats.
    private long _distributed;

    /// <summary>
    /// All members under the ring have reported what they know of the nodes that departed up to this configuration, and the results of the
    /// ring contain it.
    /// </summary>
    public long ReportedThrough { get; private set; }

    /// <summary>Whether more rounds may show the members of the ring that they agree.</summary>
    public bool IsWanted => _distributed < rings.Region.AgreementWanted;

    private bool IsRoot => level == rings.Shape.Levels - 1;

    private long Own => level == 0 ? rings.Context.Directory.Applied : rings.Rings[level - 1].Agreement.ReportedThrough;

    /// <summary>At the leader: the token is released.</summary>
    public void Begin(Token token)
    {
        token.Applied = Own;
        token.Agreed = rings.AgreedThrough;
    }

    /// <summary>At another member: the token is here. What this member reports in it is added after this.</summary>
    public void OnVisit(Token token)
    {
        token.Applied = Math.Min(token.Applied, Own);
        rings.AgreeThrough(token.Agreed);
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
        long before = ReportedThrough + _distributed;
        ReportedThrough = Math.Max(ReportedThrough, token.Applied);
        _distributed = Math.Max(_distributed, token.Agreed);
        if (IsRoot && ReportedThrough > rings.AgreedThrough && rings.Records.AreDepartedSettled())
        {
            rings.AgreeThrough(ReportedThrough);
        }

        return isWanted && ReportedThrough + _distributed > before;
    }
}
