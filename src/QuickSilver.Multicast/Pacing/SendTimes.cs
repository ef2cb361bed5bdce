namespace QuickSilver.Multicast.Pacing;

// When packets of one stream were sent, to within Spacing: by the last packet of each such time.
//
// Invariant: at most Most entries, oldest first; when there are more, the newest are not noted.
internal sealed class SendTimes
{
    private static readonly TimeSpan Spacing = TimeSpan.FromMilliseconds(10);

    // Ten seconds of them.
    private const int Most = 1024;

    private readonly Queue<(TimeSpan At, long Through)> _times = new();
    private TimeSpan _notedAt = TimeSpan.MinValue / 2;

    /// <summary>The packets up to here were sent.</summary>
    public void Add(TimeSpan now, long through)
    {
        if (now - _notedAt >= Spacing && _times.Count < Most)
        {
            _notedAt = now;
            _times.Enqueue((now, through));
        }
    }

    /// <summary>When the newest of the packets up to there that is noted was sent; null if none is. Forgets them.</summary>
    public TimeSpan? TakeThrough(long through)
    {
        TimeSpan? at = null;
        while (_times.TryPeek(out var first) && first.Through <= through)
        {
            at = first.At;
            _times.Dequeue();
        }

        return at;
    }
}
