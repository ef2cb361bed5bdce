namespace QuickSilver.Multicast.Hearing;

// Whether a stream was heard over its group of late. What comes over the group sets a mark, which costs a packet next to nothing;
// what comes by unicast looks whether it was set since the last look. So nothing is asked of the clock while all is well.
internal struct HeardMark
{
    // A group is not silent before this: what is sent to it may come in bursts.
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
