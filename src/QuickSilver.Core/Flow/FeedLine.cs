namespace QuickSilver.Core.Flow;

// The feeds that want a turn at one sink. They have turns in the order in which they came, and one that has more goes to the end, so all
// get the same number of turns.
//
// Invariants: a feed is in at most one line, and once. A feed that gave nothing leaves the line whatever it said, as a sink that asked it
// again would not come to an end.
internal sealed class FeedLine
{
    private readonly Queue<IFeed> _feeds = new();
    // Goes before the others.
    private IFeed? _first;

    public int Count => _feeds.Count + (_first is null ? 0 : 1);

    public IReadOnlyCollection<IFeed> Feeds => _first is null ? _feeds : [_first, .. _feeds];

    /// <summary>The feed that has the next turn.</summary>
    public IFeed First => _first ?? _feeds.Peek();

    /// <summary>The feed wants a turn. Has no effect if it is in a line.</summary>
    public void Add(IFeed feed)
    {
        if (!feed.IsInLine)
        {
            _feeds.Enqueue(feed);
            feed.IsInLine = true;
        }
    }

    /// <summary>
    /// The feed wants the next turn, because its turn was cut short. Has no effect if it is in a line; it is the last if another one wanted
    /// that, too.
    /// </summary>
    public void AddFirst(IFeed feed)
    {
        if (_first is null && !feed.IsInLine)
        {
            feed.IsInLine = true;
            _first = feed;
        }
        else
        {
            Add(feed);
        }
    }

    /// <summary>Gives the first feed its turn.</summary>
    public void GiveTurn(ref PullBudget budget)
    {
        var feed = TakeFirst();
        int items = budget.Items;
        bool hasMore;
        try
        {
            hasMore = feed.Pull(ref budget);
        }
        catch
        {
            // Its turn was cut short.
            Add(feed);
            throw;
        }

        if (hasMore && budget.Items < items)
        {
            // It may have registered again from within its turn.
            Add(feed);
        }
    }

    /// <summary>
    /// Gives each feed that is in line now one turn; those that register meanwhile wait. Returns whether one of them used all of its turn.
    /// </summary>
    public bool GiveOneTurnEach()
    {
        bool isSpent = false;
        for (int left = Count; left > 0; left--)
        {
            var budget = PullBudget.OneTurn;
            GiveTurn(ref budget);
            isSpent |= budget.IsSpent;
        }

        return isSpent;
    }

    /// <summary>Takes the first feed out of the line.</summary>
    public IFeed TakeFirst()
    {
        var feed = _first ?? _feeds.Dequeue();
        _first = null;
        feed.IsInLine = false;
        return feed;
    }
}
