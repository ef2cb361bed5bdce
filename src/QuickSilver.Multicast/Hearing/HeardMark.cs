namespace QuickSilver.Multicast.Hearing;

// Whether a stream was recently heard over its group. A packet that comes over the group sets the mark, which costs a store. A unicast
// packet checks whether the mark was set since the last check. So the clock is not read while multicast works.
internal struct HeardMark
{
    // The least time after which a group counts as silent. It is long because data may be sent in bursts.
    public static readonly TimeSpan Silence = TimeSpan.FromMilliseconds(250);

    private bool _isHeard;
    private bool _wasHeard;
    private TimeSpan _lookedAt;

    /// <summary>A packet came over the group.</summary>
    public void Set() => _isHeard = true;

    /// <summary>Whether nothing has come over the group for a while, or ever.</summary>
    public bool IsSilent(TimeSpan now)
    {
        if (_isHeard)
        {
            _isHeard = false;
            _wasHeard = true;
            _lookedAt = now;
            return false;
        }

        return !_wasHeard || now - _lookedAt >= Silence;
    }
}
