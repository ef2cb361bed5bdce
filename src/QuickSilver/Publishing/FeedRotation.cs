namespace QuickSilver.Publishing;

// The feeds of one topic, which are asked in turn.
//
// Invariant: the next feed to be asked comes after the one that was asked last, so no feed is asked twice before all others were asked. The
// exception is a feed that keeps a message: it is asked first.
internal sealed class FeedRotation
{
    private readonly List<AttachedFeed> _feeds = [];
    private int _next;

    public int Count => _feeds.Count;

    public void Add(AttachedFeed feed) => _feeds.Add(feed);

    public void Remove(AttachedFeed feed)
    {
        int at = _feeds.IndexOf(feed);
        if (at >= 0)
        {
            _feeds.RemoveAt(at);
            _next = 0;
        }
    }

    /// <summary>Gets the next message, and returns its feed; null if no feed has a message.</summary>
    public AttachedFeed? Pull(out ReadOnlySpan<byte> message)
    {
        // The callback of a feed may remove feeds.
        for (int idle = 0; idle < _feeds.Count; idle++)
        {
            if (_next >= _feeds.Count)
            {
                _next = 0;
            }

            var feed = _feeds[_next++];
            if (feed.TryPull(out message))
            {
                return feed;
            }
        }

        message = default;
        return null;
    }

    /// <summary>Returns the message that was pulled last to its feed, because there was no room for it.</summary>
    public void Keep(AttachedFeed feed, ReadOnlySpan<byte> message)
    {
        feed.Keep(message);
        _next--;
    }
}
