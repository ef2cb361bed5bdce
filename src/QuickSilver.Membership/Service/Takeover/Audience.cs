namespace QuickSilver.Membership.Service.Takeover;

// How many of its members the service hears. A service that hears fewer than half of those that it last heard all together is cut off
// itself, and cannot judge the others: it continues without them, and admits them again without a restart.
internal sealed class Audience(MemberTable members, TimeSpan freshness)
{
    private int _whole;

    /// <summary>Members that are connected and have spoken not long ago.</summary>
    public int Count(TimeSpan now) => members.All.Count(member => member.Session is not null && now - member.LastHeard <= freshness);

    /// <summary>Called at each check for silent members.</summary>
    public bool IsCutOff(TimeSpan now)
    {
        int heard = Count(now);
        _whole = heard == members.Count ? heard : Math.Max(_whole, members.Count);
        return heard * 2 < _whole;
    }
}
