using QuickSilver.Core.Flow;

namespace QuickSilver.Publishing.Feeds;

// The feeds of one topic that may have something to send. They have turns in the order in which they came.
//
// Intuition: each feed may give so many bytes in a turn, so all get the same share, whatever the size of their messages. A feed that gave
// too much has less in its next turn (deficit round robin). What goes wrong without the rest of a turn: when there is no more room, some
// feed is always cut short. If the next one had the turn then, and the room came in portions that the number of feeds is a multiple of,
// the same feeds would be cut short each time. So that feed stays first, and continues its turn.
//
// Invariant: a feed is in the line once, while it is attached and is not waiting for a signal, or keeps a message.
internal sealed class FeedRotation
{
    /// <summary>What a feed may give in its turn while others wait.</summary>
    public const int TurnBytes = 4 << 10;
    // What a feed that gave a large message repays at most, so that the line does not go round for long.
    private const int MostDebt = 16 * TurnBytes;

    private readonly LinkedList<AttachedFeed> _line = new();

    public bool IsEmpty => _line.Count == 0;

    /// <summary>The feed may have something. No effect if it is in the line.</summary>
    public void Add(AttachedFeed feed)
    {
        if (feed.Place.List is null)
        {
            feed.Credit = 0;
            _line.AddLast(feed.Place);
        }
    }

    public void Remove(AttachedFeed feed)
    {
        if (feed.Place.List is not null)
        {
            _line.Remove(feed.Place);
        }
    }

    /// <summary>The feed that has the turn, and how much it may give; null if no feed has anything.</summary>
    public AttachedFeed? Next(in PullBudget budget, int roomBytes, out PullBudget turn)
    {
        turn = default;
        if (_line.First is not { } first)
        {
            return null;
        }

        int bytes = Math.Min(budget.Bytes, Math.Max(roomBytes, 1));
        if (_line.Count > 1)
        {
            first = BeginTurn(first);
            bytes = Math.Min(bytes, first.Value.Credit);
        }

        turn = new PullBudget(budget.Items, bytes);
        return first.Value;
    }

    /// <summary>The feed that had the turn has given so many bytes.</summary>
    public void OnGiven(AttachedFeed feed, int bytes, bool hasMore)
    {
        if (!hasMore)
        {
            Remove(feed);
            return;
        }

        feed.Credit = _line.Count > 1 ? Math.Max(feed.Credit - bytes, -MostDebt) : 0;
        if (feed.Credit <= 0)
        {
            MoveToEnd(feed.Place);
        }
    }

    private LinkedListNode<AttachedFeed> BeginTurn(LinkedListNode<AttachedFeed> first)
    {
        while (first.Value.Credit <= 0)
        {
            first.Value.Credit += TurnBytes;
            if (first.Value.Credit <= 0)
            {
                MoveToEnd(first);
                first = _line.First!;
            }
        }

        return first;
    }

    private void MoveToEnd(LinkedListNode<AttachedFeed> place)
    {
        if (place.List is not null)
        {
            _line.Remove(place);
            _line.AddLast(place);
        }
    }
}
