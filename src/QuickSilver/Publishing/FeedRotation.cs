namespace QuickSilver.Publishing;

// The feeds of one topic, which are asked in turn.
//
// Invariant: the next one to be asked stands behind the last that was asked, so none is asked twice before all others were asked; but one
// that keeps a message is asked first.
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

    /// <summary>The next message, and whose it is; null when no feed has one.</summary>
    public AttachedFeed? Pull(out ReadOnlySpan<byte> message)
    {
        // A feed may be taken away by what it is asked.
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

    /// <summary>There was no room for what was pulled last.</summary>
    public void Keep(AttachedFeed feed, ReadOnlySpan<byte> message)
    {
        feed.Keep(message);
        _next--;
    }
}
