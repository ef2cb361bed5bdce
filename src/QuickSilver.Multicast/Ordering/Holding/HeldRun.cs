using System.Diagnostics.CodeAnalysis;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Ordering.Credit;

namespace QuickSilver.Multicast.Ordering.Holding;

// What is held of one sender in one topic, the oldest first: copies of messages, and between them gaps and the news of what is stable. Each
// belongs to the view in which it came, which is counted from the first.
internal sealed class HeldRun(NodeKey sender, ulong topicId, ParkingBudget budget)
{
    private readonly ParkedMessages _messages = new(budget);
    private readonly Queue<Item> _items = new();
    // What came behind the newest message, or behind a gap for another reason, in one view: one gap, which grows with those that follow it,
    // and the news of what is stable, which later news replace. So what is held is bounded by the messages. Default: there is none.
    private Item _gap;
    private Item _stable;
    private long _lastNumber;

    public NodeKey Sender => sender;

    public int Count => _items.Count + (_gap.Kind == ItemKind.None ? 0 : 1) + (_stable.Kind == ItemKind.None ? 0 : 1);

    /// <summary>The bytes that the messages take of the budget.</summary>
    public long Bytes => _messages.Bytes;

    /// <summary>The view of the oldest item; there is one.</summary>
    public long View => Peek().View;

    /// <summary>Holds a message. False: the budget has no room.</summary>
    public bool TryAdd(in DeliveredMessage message, long view)
    {
        if (!_messages.TryAdd(message))
        {
            return false;
        }

        Enqueue(new Item(ItemKind.Message, message.Sequence, view, null));
        _lastNumber = message.Sequence;
        return true;
    }

    /// <summary>Holds a gap. It counts as one with the gap before it if no message is between, for the same reason.</summary>
    public void Add(in TopicGap gap, long view)
    {
        if (_gap is { Gap: { } before } && _gap.View == view && before.Reason == gap.Reason && before.Last + 1 == gap.First)
        {
            _gap = _gap with { Gap = before with { Last = gap.Last } };
            return;
        }

        if (_gap.Kind != ItemKind.None || (_stable.Kind != ItemKind.None && _stable.View != view))
        {
            EnqueueLast();
        }

        _gap = new Item(ItemKind.Gap, gap.First, view, gap);
    }

    /// <summary>Holds the news of how far the messages are stable. Of several without a message between, the last one counts.</summary>
    public void AddStable(long through, long view)
    {
        if ((_stable.Kind != ItemKind.None && _stable.View != view) || (_gap.Kind != ItemKind.None && _gap.View != view))
        {
            EnqueueLast();
        }

        _stable = new Item(ItemKind.Stable, through, view, null);
    }

    /// <summary>Whether the oldest item is the news that the messages up to a number are stable.</summary>
    public bool TryPeekStable(out long through)
    {
        var first = Peek();
        through = first.Number;
        return first.Kind == ItemKind.Stable;
    }

    /// <summary>Whether the oldest item is a gap.</summary>
    public bool TryPeekGap([NotNullWhen(true)] out TopicGap? gap)
    {
        gap = Peek().Gap;
        return gap is not null;
    }

    /// <summary>Gets the oldest item, a message. Its bytes are valid until it is removed.</summary>
    public void Peek(out DeliveredMessage message)
    {
        message = new DeliveredMessage(sender);
        _messages.Peek(ref message, topicId, Peek().Number);
    }

    public void Remove()
    {
        var first = Peek();
        if (first.Kind == ItemKind.Message)
        {
            _messages.Remove();
        }

        if (_items.TryDequeue(out _))
        {
            return;
        }

        if (_gap.Kind != ItemKind.None)
        {
            _gap = default;
        }
        else
        {
            _stable = default;
        }
    }

    /// <summary>The numbers of the messages that are held; null: there are none.</summary>
    public UntakenRange? Untaken()
    {
        foreach (var item in _items)
        {
            if (item.Kind == ItemKind.Message)
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
        _gap = _stable = default;
    }

    private Item Peek() => _items.TryPeek(out var first) ? first : _gap.Kind != ItemKind.None ? _gap : _stable;

    private void Enqueue(in Item item)
    {
        EnqueueLast();
        _items.Enqueue(item);
    }

    private void EnqueueLast()
    {
        if (_gap.Kind != ItemKind.None)
        {
            _items.Enqueue(_gap);
        }

        if (_stable.Kind != ItemKind.None)
        {
            _items.Enqueue(_stable);
        }

        _gap = _stable = default;
    }

    private enum ItemKind : byte
    {
        None,
        Message,
        Gap,
        Stable,
    }

    private readonly record struct Item(ItemKind Kind, long Number, long View, TopicGap? Gap);
}
