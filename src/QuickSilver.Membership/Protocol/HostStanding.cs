namespace QuickSilver.Membership.Protocol;

// How a host stands when it meets another: the members that its service hears, and the last configuration that it made. All
// zero: not a host.
internal readonly record struct HostStanding(ulong Id, int Members, long Configuration)
{
    public bool IsHost => Id != 0;

    /// <summary>
    /// Of two hosts the one with more members continues, then the one with the newer configuration, then the one with the smaller id.
    /// </summary>
    public bool GoesOnBefore(in HostStanding other)
    {
        int byLine = (Members, Configuration).CompareTo((other.Members, other.Configuration));
        return byLine != 0 ? byLine > 0 : Id < other.Id;
    }
}
