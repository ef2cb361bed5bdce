using System.Diagnostics.CodeAnalysis;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Ordering.Credit;

namespace QuickSilver.Multicast.Ordering.Holding;

// What is held of one sender in one topic, the oldest first: copies of messages, and gaps between them. Each belongs to the view in which
// it came, which is counted from the first.
internal sealed class HeldRun(NodeKey sender, ulong topicId, ParkingBudget budget)
{
    private readonly ParkedMessages _messages = new(budget);
    private readonly Queue<Item> _items = new();
    private long _lastNumber;

    public NodeKey Sender => sender;

    public int Count => _items.Count;

    /// <summary>The bytes that the messages take of the budget.</summary>
    public long Bytes => _messages.Bytes;

    /// <summary>The view of the oldest item; there is one.</summary>
    public long View => _items.Peek().View;

    /// <summary>Holds a message. False: the budget has no room.</summary>
    public bool TryAdd(in DeliveredMessage message, long view)
    {
        if (!_messages.TryAdd(message))
        {
            return false;
        }

        _items.Enqueue(new Item(message.Sequence, view, null));
        _lastNumber = message.Sequence;
        return true;
    }

    public void Add(in TopicGap gap, long view) => _items.Enqueue(new Item(gap.First, view, gap));

    /// <summary>Whether the oldest item is a gap.</summary>
    public bool TryPeekGap([NotNullWhen(true)] out TopicGap? gap)
    {
        gap = _items.Peek().Gap;
        return gap is not null;
    }

    /// <summary>Gets the oldest item, a message. Its bytes are valid until it is removed.</summary>
    public void Peek(out DeliveredMessage message)
    {
        message = new DeliveredMessage(sender);
        _messages.Peek(ref message, topicId, _items.Peek().Number);
    }

    public void Remove()
    {
        if (_items.Dequeue().Gap is null)
        {
            _messages.Remove();
        }
    }

    /// <summary>The numbers of the messages that are held; null: there are none.</summary>
    public UntakenRange? Untaken()
    {
        foreach (var item in _items)
        {
            if (item.Gap is null)
            {
                return new UntakenRange(sender, item.Number, _lastNumber);
            }
        }

        return null;
    }

    public void Clear()
    {
        _messages.Clear();
        _items.Clear();
    }

    private readonly record struct Item(long Number, long View, TopicGap? Gap);
}
