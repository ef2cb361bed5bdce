namespace QuickSilver.Membership.Service;

// A service that takes over from another one knows nobody yet. If it made views at once, a publisher that comes back
// first would be told that its topics have no subscribers, and what it sends then would be lost. So from the first sign
// of an earlier life, no views are made until everybody who was known is back or a grace has passed; the nodes go on in
// their last views meanwhile.
internal sealed class Gathering(TimeSpan grace)
{
    private long _gatheredEpoch;
    private int _expected;
    private int _returned;

    /// <summary>When the grace ends; null while nothing is gathered.</summary>
    public TimeSpan? Until { get; private set; }

    public bool IsOn(TimeSpan now)
    {
        if (Until is { } until && (now >= until || (_expected > 0 && _returned >= _expected)))
        {
            Until = null;
        }

        return Until is not null;
    }

    /// <summary>There was a service before, up to this epoch. True when a gathering begins.</summary>
    public bool Begin(long epoch, TimeSpan now)
    {
        if (epoch <= _gatheredEpoch)
        {
            return false;
        }

        _gatheredEpoch = epoch;
        if (Until is not null)
        {
            return false;
        }

        Until = now + grace;
        _expected = 0;
        _returned = 0;
        return true;
    }

    /// <summary>A node of the earlier service is back; it knew so many nodes, itself included.</summary>
    public void OnReturned(int knownNodes)
    {
        _returned++;
        _expected = Math.Max(_expected, knownNodes);
    }
}
