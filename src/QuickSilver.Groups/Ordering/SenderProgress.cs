using QuickSilver.Membership.Views;

namespace QuickSilver.Groups.Ordering;

// How far one sender has come in one view at this member.
internal sealed class SenderProgress(NodeKey sender, int rank)
{
    // Those that were passed are removed when the next one is looked for, because a message that was tried may still be refused.
    private readonly Queue<HeldMessage> _held = new();

    public NodeKey Sender => sender;

    /// <summary>The rank in the view; <see cref="int.MaxValue"/> for a sender that is not a member.</summary>
    public int Rank => rank;

    /// <summary>The number of the last message that was passed, or will not come.</summary>
    public long Passed { get; set; }

    /// <summary>All members hold its messages up to this one.</summary>
    public long Stable { get; set; }

    /// <summary>What causal messages of this node have named of it in this view.</summary>
    public long Named { get; set; }

    /// <summary>A message has arrived and waits.</summary>
    public void Hold(in HeldMessage message)
    {
        TryPeek(out _);
        _held.Enqueue(message);
    }

    /// <summary>Gets the oldest message that waits.</summary>
    public bool TryPeek(out HeldMessage first)
    {
        while (_held.TryPeek(out first) && first.Number <= Passed)
        {
            _held.Dequeue();
        }

        return _held.Count > 0;
    }

    /// <summary>The number of the last message that waits and takes a place in the order of the group; 0: none does.</summary>
    public long LastToOrder()
    {
        long last = 0;
        foreach (var message in _held)
        {
            last = message.Number > Passed && message.Frame is GroupFrame.Total or GroupFrame.Safe ? message.Number : last;
        }

        return last;
    }

    /// <summary>The messages that wait, the oldest first.</summary>
    public HeldMessage[] ToArray()
    {
        TryPeek(out _);
        return _held.ToArray();
    }
}

// A message that waits, without its content. The steps are those of an order message or of a causal one.
internal readonly record struct HeldMessage(long Number, GroupFrame Frame, OrderStep[] Steps);
