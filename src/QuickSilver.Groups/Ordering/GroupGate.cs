using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Ordering.Holding;

namespace QuickSilver.Groups.Ordering;

// Decides at one member when the messages of a group may be passed, by the order of their view (OrderedView). Later messages of a sender
// wait behind the one that waits, so the order of each sender is kept as well.
//
// Invariant: the first view is the one whose messages are passed, and the last one that whose messages arrive.
internal sealed class GroupGate(NodeKey self) : IDeliveryGate
{
    private readonly Queue<OrderedView> _views = new();

    /// <summary>Called when this node has something to order.</summary>
    public Action? OnPending { get; set; }

    /// <summary>Called when an order has come by which messages that wait may be passed.</summary>
    public Action? OnOrders { get; set; }

    /// <summary>Called when a message begins to wait.</summary>
    public Action? OnWait { get; set; }

    /// <summary>The rounds after which the order moves; null: it stays with the oldest member (<see cref="OrderTraffic"/>).</summary>
    public int? RoundsToMove { get; init; }

    public Func<NodeKey, string> NameOf { get; init; } = static node => node.ToString();

    /// <summary>The view whose messages are passed; null before the first.</summary>
    public OrderedView? Passing => _views.TryPeek(out var passing) ? passing : null;

    /// <summary>The view whose messages arrive; null before the first.</summary>
    public OrderedView? Arriving { get; private set; }

    /// <summary>Decides whether nothing may be passed at present, whatever its order. Null: that is never so.</summary>
    public Func<bool>? Suspends { get; init; }

    public bool IsSuspended => Suspends is not null && Suspends();

    public string WaitsFor => IsSuspended
        ? "the membership service, which may have removed this node"
        : Passing is { } view
        ? $"their place in the order of the group, which node {NameOf(view.Orderer)} decides"
        : "the first view of the group";

    public bool MayPass(in DeliveredMessage message) =>
        !IsSuspended && (Passing?.MayPass(message, GroupFrames.Of(message.Span)) ?? true);

    public void OnHeld(in DeliveredMessage message)
    {
        if (Arriving is not { } view)
        {
            return;
        }

        var frame = GroupFrames.Of(message.Span);
        view.OnHeld(message, frame);
        OnWait?.Invoke();
        if (frame == GroupFrame.Orders)
        {
            OnOrders?.Invoke();
        }

        if (view.IsOrdering && message.Sender != self && frame is GroupFrame.Total or GroupFrame.Safe)
        {
            view.Pending.Add(message.Sender, message.Sequence);
            OnPending?.Invoke();
        }
    }

    public void OnPassing(in DeliveredMessage message)
    {
        if (Passing is not { } view)
        {
            return;
        }

        if (GroupFrames.Of(message.Span) == GroupFrame.Handover)
        {
            view.OnHandover(message);
            if (view.Pending.Count > 0)
            {
                OnPending?.Invoke();
            }
        }

        view.SetPassed(message.Sender, message.Sequence);
    }

    public void OnRefused(in DeliveredMessage message) => Passing?.SetPassed(message.Sender, message.Sequence - 1);

    public void OnGap(in TopicGap gap) => Passing?.SetPassed(gap.Sender, gap.Last);

    // What is stable is reported for the view in which messages arrive.
    public void OnStable(NodeKey sender, long through) => Arriving?.OnStable(sender, through);

    public void OnViewEnding(MemberView next)
    {
        Arriving?.End();
        Arriving = new OrderedView(next, self, RoundsToMove);
        _views.Enqueue(Arriving);
    }

    public void OnView(MemberView view)
    {
        while (_views.TryPeek(out var first) && first.Configuration < view.Configuration)
        {
            _views.Dequeue();
        }
    }
}
