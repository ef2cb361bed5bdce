namespace QuickSilver.Membership.Service.Takeover;

// How many of its members the service hears. One that hears fewer than half of those whom it last heard all together is
// itself what was cut off, and is no judge of the others: it goes on without them, and takes them back as they are.
internal sealed class Audience(MemberTable members, TimeSpan freshness)
{
    private int _whole;

    /// <summary>Members that are connected and have spoken not long ago.</summary>
    public int Count(TimeSpan now) => members.All.Count(member => member.Session is not null && now - member.LastHeard <= freshness);

    /// <summary>Asked at each check of who is silent.</summary>
    public bool IsCutOff(TimeSpan now)
    {
        int heard = Count(now);
        _whole = heard == members.Count ? heard : Math.Max(_whole, members.Count);
        return heard * 2 < _whole;
    }
}
