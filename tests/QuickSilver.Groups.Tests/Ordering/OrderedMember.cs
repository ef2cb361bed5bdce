using QuickSilver.Groups.Ordering;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;

namespace QuickSilver.Groups.Tests.Ordering;

// A member by calls: a queue of each sender in front of the gate, as HoldingSink has it, and the log of what was passed.
internal sealed class OrderedMember
{
    private readonly SortedDictionary<NodeKey, Queue<(StreamItem Item, int View)>> _held = [];
    private readonly Queue<MemberView> _views = new();
    private int _arrived;
    private bool _isDue;
    private int _passed;

    public OrderedMember(NodeKey self, int? roundsToMove)
    {
        Self = self;
        // What waits is looked at again only when something was passed, and when the gate says so.
        Gate = new GroupGate(self) { RoundsToMove = roundsToMove, OnOrders = () => _isDue = true };
    }

    public NodeKey Self { get; }

    public GroupGate Gate { get; }

    public List<string> Log { get; } = [];

    /// <summary>What was passed in the order of the group.</summary>
    public List<string> Ordered { get; } = [];

    /// <summary>Whether the application has no room for the next message.</summary>
    public Func<bool> IsFull { get; init; } = static () => false;

    public int Held => _held.Values.Sum(static queue => queue.Count);

    public void Receive(NodeKey sender, StreamItem item)
    {
        var queue = _held.TryGetValue(sender, out var known) ? known : _held[sender] = new Queue<(StreamItem, int)>();
        if (queue.Count == 0 && _arrived == _passed && TryPass(sender, item, isHeld: false))
        {
            _isDue = true;
        }
        else
        {
            queue.Enqueue((item, _arrived));
            if (!item.IsGap)
            {
                Gate.OnHeld(MessageOf(sender, item));
            }
        }

        while (_isDue)
        {
            _isDue = false;
            Pump();
        }
    }

    /// <summary>All members hold the messages of the sender up to this one.</summary>
    public void OnStable(NodeKey sender, long through)
    {
        Gate.OnStable(sender, through);
        Pump();
    }

    public void End(MemberView next)
    {
        _arrived++;
        _views.Enqueue(next);
        Gate.OnViewEnding(next);
        Pump();
    }

    public void Pump()
    {
        while (true)
        {
            bool isAny = false;
            foreach (var (sender, queue) in _held)
            {
                while (queue.TryPeek(out var first) && first.View == _passed && TryPass(sender, first.Item, isHeld: true))
                {
                    queue.Dequeue();
                    isAny = true;
                }
            }

            if (isAny)
            {
                continue;
            }

            if (_views.Count == 0 || _held.Values.Any(queue => queue.TryPeek(out var first) && first.View == _passed))
            {
                return;
            }

            var view = _views.Dequeue();
            _passed++;
            Gate.OnView(view);
            Log.Add($"view {view.Configuration}");
        }
    }

    private bool TryPass(NodeKey sender, StreamItem item, bool isHeld)
    {
        if (item.IsGap)
        {
            Gate.OnGap(new TopicGap(sender, 1, item.Number, item.Number, TopicGapReason.SenderGone));
            return true;
        }

        var message = MessageOf(sender, item);
        if (!Gate.MayPass(message))
        {
            return false;
        }

        Gate.OnPassing(message);
        var frame = GroupFrames.Of(item.Payload);
        bool isMessage = frame is not (GroupFrame.Orders or GroupFrame.Handover);
        if (isMessage && IsFull())
        {
            Gate.OnRefused(message);
            // It has room soon.
            _isDue = true;
            return false;
        }

        if (isMessage)
        {
            Log.Add($"{sender.Id}/{item.Number}");
        }

        if (frame is GroupFrame.Total or GroupFrame.Safe)
        {
            Ordered.Add($"{sender.Id}/{item.Number}");
        }

        return true;
    }

    private static DeliveredMessage MessageOf(NodeKey sender, StreamItem item)
    {
        var message = new DeliveredMessage(sender);
        message.Set(1, item.Number, item.Payload, 0, item.Payload.Length);
        return message;
    }
}

// An element of a sender's stream: a message or, if it has no payload, a number that no member gets.
internal readonly record struct StreamItem(long Number, byte[] Payload)
{
    public bool IsGap => Payload.Length == 0;
}
