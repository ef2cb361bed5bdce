namespace QuickSilver.Groups.Tools;

/// <summary>The options of a member of a lock. They are read when it is opened, so a later change has no effect.</summary>
public sealed class LockOptions
{
    /// <summary>
    /// Whether the lock may be opened where nodes host the membership service. Default: false, and opening fails. Caution: each part of a
    /// divided network then grants the lock, and fencing numbers of different parts cannot be compared. Set it on one machine and in
    /// tests.
    /// </summary>
    public bool AllowHostedService { get; set; }
}

/// <summary>The options of a candidate for leadership. They are read when it is opened, so a later change has no effect.</summary>
public sealed class LeaderOptions
{
    /// <summary>
    /// Whether leadership may be opened where nodes host the membership service. Default: false, and opening fails. Caution: each part of a
    /// divided network then has a leader, and terms of different parts cannot be compared. Set it on one machine and in tests.
    /// </summary>
    public bool AllowHostedService { get; set; }
}
