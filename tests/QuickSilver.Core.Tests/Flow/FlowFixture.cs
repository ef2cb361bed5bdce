using QuickSilver.Core.Buffers;
using QuickSilver.Core.Flow;

namespace QuickSilver.Core.Tests.Flow;

// The root of a tree: what a socket's writer is, with the bytes kept in sight. Each item is one byte, the feed's name,
// followed by what fills it up.
internal sealed class RecordingRoot : ISink
{
    private readonly Lease _lease = new SlabPool(SlabPool.BlockBytes).TryRent()!;
    private readonly List<IFeed> _line = [];

    public int Registrations { get; private set; }

    public bool HasFeeds => _line.Count > 0;

    public void Register(IFeed feed)
    {
        if (feed.Link.Sink is null)
        {
            Registrations++;
            feed.Link.Sink = this;
            _line.Add(feed);
        }
    }

    public void Withdraw(IFeed feed)
    {
        if (feed.Link.Sink == this)
        {
            feed.Link.Sink = null;
            _line.Remove(feed);
        }
    }

    /// <summary>One pull into a fresh context; returns the names of the items in order.</summary>
    public string Pull(int maxItems, int roomBytes = 1024, TimeSpan now = default, int itemBytes = 1)
    {
        if (_line.Count == 0)
        {
            return "";
        }

        var feed = _line[0];
        Withdraw(feed);
        var context = new PullContext(_lease, 0, roomBytes, maxItems, now);
        if (feed.Pull(ref context))
        {
            Register(feed);
        }

        var written = _lease.Span[..context.Written];
        var names = new System.Text.StringBuilder();
        for (int at = 0; at < written.Length; at += itemBytes)
        {
            names.Append((char)written[at]);
        }

        return names.ToString();
    }

    /// <summary>Pulls without keeping a record, for measuring.</summary>
    public int PullSilently(int maxItems, TimeSpan now = default)
    {
        var feed = _line[0];
        Withdraw(feed);
        var context = new PullContext(_lease, 0, SlabPool.BlockBytes, maxItems, now);
        if (feed.Pull(ref context))
        {
            Register(feed);
        }

        return context.Items;
    }
}

internal sealed class NamedFeed : IFeed
{
    private readonly char _name;
    private readonly int _itemBytes;

    public NamedFeed(char name, int items, FeedPriority priority = FeedPriority.Data, int itemBytes = 1)
    {
        _name = name;
        _itemBytes = itemBytes;
        Items = items;
        Link = new FeedLink(this, priority);
    }

    public FeedLink Link { get; }

    public int Items { get; set; }

    public int Turns { get; private set; }

    public int MostItemsAllowed { get; private set; }

    public Action? OnTurn { get; set; }

    public bool Pull(ref PullContext context)
    {
        Turns++;
        MostItemsAllowed = Math.Max(MostItemsAllowed, context.ItemsAllowed);
        OnTurn?.Invoke();
        while (Items > 0 && context.ItemsAllowed > 0 && context.Room.Length >= _itemBytes)
        {
            context.Room[.._itemBytes].Fill((byte)_name);
            context.Commit(_itemBytes);
            Items--;
        }

        return Items > 0;
    }
}
