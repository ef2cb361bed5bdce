namespace QuickSilver.Core.Flow;

// Shares one way out among feeds: strictly by priority, in turns of a few items within each, as its policies admit. It is
// a feed of the sink above: it is in line there exactly while it has feeds and is open.
//
// A closed policy takes the sink out of the line above, so that a thousand waiting regions cost the socket nothing. It
// then tells its owner when it opens; the owner, who has the alarms (or who sees the acknowledgements that give a window
// its credits back), calls Resume. That may be early or spurious; it must not be left out.
internal sealed class RoundRobinSink : ISink, IFeed
{
    private const int Priorities = (int)FeedPriority.Data + 1;

    private readonly ISink _above;
    private readonly IAdmission[] _policies;
    private readonly int _itemsPerTurn;
    // The feed whose turn is next, per priority; each line is a ring.
    private readonly FeedLink?[] _lines = new FeedLink?[Priorities];
    private int _registered;
    private bool _isClosed;

    public RoundRobinSink(ISink above, FeedPriority priority, int itemsPerTurn, params IAdmission[] policies)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(itemsPerTurn, 1);
        _above = above;
        _itemsPerTurn = itemsPerTurn;
        _policies = policies;
        Link = new FeedLink(this, priority);
    }

    public FeedLink Link { get; }

    public int RegisteredFeeds => _registered;

    /// <summary>A policy stopped the last pull; Resume is awaited.</summary>
    public bool IsClosed => _isClosed;

    /// <summary>Called when a policy closes the sink, with the instant at which it opens; TimeSpan.MaxValue if time alone
    /// will not do it.</summary>
    public Action<TimeSpan>? OnClosed { get; set; }

    public void Register(IFeed feed)
    {
        var link = feed.Link;
        if (link.Sink is null)
        {
            link.Sink = this;
            Append(link);
            RegisterAbove();
        }
        else if (!ReferenceEquals(link.Sink, this))
        {
            throw new InvalidOperationException("The feed is registered with another sink. Withdraw it there first.");
        }
    }

    public void Withdraw(IFeed feed)
    {
        if (ReferenceEquals(feed.Link.Sink, this))
        {
            Take(feed.Link);
            feed.Link.Sink = null;
            if (_registered == 0)
            {
                _above.Withdraw(this);
            }
        }
    }

    /// <summary>The time that OnClosed named has come, or credits have come back.</summary>
    public void Resume()
    {
        _isClosed = false;
        RegisterAbove();
    }

    public bool Pull(ref PullContext context)
    {
        while (_registered > 0 && context.ItemsAllowed > 0)
        {
            if (!IsAdmitted(context.Now))
            {
                return false;
            }

            if (!GiveTurn(NextInLine(), ref context))
            {
                return _registered > 0;
            }
        }

        return _registered > 0;
    }

    // False: the feed needs more room than is left, so this context is full.
    private bool GiveTurn(FeedLink link, ref PullContext context)
    {
        int items = context.Items;
        int bytes = context.Written;
        bool wasUntouched = context.IsUntouched;
        // Out of the line while it runs: if it throws it is withdrawn, and if it registers from within it goes to the end.
        Take(link);
        link.Sink = null;

        int outerLimit = context.BeginTurn(_itemsPerTurn);
        bool hasMore = link.Feed.Pull(ref context);
        context.EndTurn(outerLimit);

        bool wrote = context.Items > items;
        if (wrote)
        {
            Charge(context.Now, context.Items - items, context.Written - bytes);
        }

        bool keepsTurn = hasMore && !wrote && !wasUntouched;
        Requeue(link, staysInLine: hasMore && (wrote || keepsTurn), wrote);
        if (keepsTurn && ReferenceEquals(link.Sink, this))
        {
            // The end of a ring is just before its head: moving the head there puts the feed first again.
            _lines[(int)link.Priority] = link;
        }

        return !keepsTurn;
    }

    private void Requeue(FeedLink link, bool staysInLine, bool wrote)
    {
        if (staysInLine && link.Sink is null)
        {
            link.Sink = this;
            Append(link);
        }
        else if (!staysInLine && !wrote && ReferenceEquals(link.Sink, this))
        {
            // It registered from within its turn and had nothing all the same; its next turn would be no other.
            Take(link);
            link.Sink = null;
        }
    }

    private bool IsAdmitted(TimeSpan now)
    {
        var opensAt = now;
        foreach (var policy in _policies)
        {
            var at = policy.OpensAt(now);
            opensAt = at > opensAt ? at : opensAt;
        }

        if (opensAt <= now)
        {
            return true;
        }

        _isClosed = true;
        // A feed that registered from within its turn may have put the sink in line again.
        _above.Withdraw(this);
        OnClosed?.Invoke(opensAt);
        return false;
    }

    private void Charge(TimeSpan now, int items, int bytes)
    {
        foreach (var policy in _policies)
        {
            policy.Charge(now, items, bytes);
        }
    }

    private void RegisterAbove()
    {
        if (_registered > 0 && !_isClosed)
        {
            _above.Register(this);
        }
    }

    private FeedLink NextInLine()
    {
        foreach (var head in _lines)
        {
            if (head is not null)
            {
                return head;
            }
        }

        throw new InvalidOperationException("No feed is registered.");
    }

    private void Append(FeedLink link)
    {
        ref var head = ref _lines[(int)link.Priority];
        if (head is null)
        {
            link.Next = link;
            link.Previous = link;
            head = link;
        }
        else
        {
            link.Next = head;
            link.Previous = head.Previous;
            head.Previous!.Next = link;
            head.Previous = link;
        }

        _registered++;
    }

    private void Take(FeedLink link)
    {
        ref var head = ref _lines[(int)link.Priority];
        if (ReferenceEquals(link.Next, link))
        {
            head = null;
        }
        else
        {
            link.Previous!.Next = link.Next;
            link.Next!.Previous = link.Previous;
            head = ReferenceEquals(head, link) ? link.Next : head;
        }

        link.Next = null;
        link.Previous = null;
        _registered--;
    }
}
