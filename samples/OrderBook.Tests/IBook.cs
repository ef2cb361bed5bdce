namespace OrderBook.Tests;

/// <summary>One node's copy of the order book.</summary>
internal interface IBook
{
    /// <summary>The orders that are open, by their numbers.</summary>
    SortedSet<int> Open { get; }

    void Apply(OrderEvent what);
}

/// <summary>
/// Wrong, and right in every test on a quiet network: it takes for granted that an order is placed before it is cancelled. But
/// the two come from different senders, and QuickSilver keeps order per sender. When the datagram with the order is lost and
/// repaired, its cancellation, which another node sent because it had the order already, comes first. It is for an order that
/// is unknown here, so it does nothing, and the order that comes then stays open forever.
/// </summary>
internal sealed class TrustingBook : IBook
{
    public SortedSet<int> Open { get; } = [];

    public void Apply(OrderEvent what)
    {
        if (what.IsCancellation)
        {
            Open.Remove(what.Id);
        }
        else
        {
            Open.Add(what.Id);
        }
    }
}

/// <summary>Right: a cancellation that comes first is remembered until its order comes.</summary>
internal sealed class CarefulBook : IBook
{
    private readonly HashSet<int> _cancelledEarly = [];

    public SortedSet<int> Open { get; } = [];

    public void Apply(OrderEvent what)
    {
        if (!what.IsCancellation)
        {
            if (!_cancelledEarly.Remove(what.Id))
            {
                Open.Add(what.Id);
            }
        }
        else if (!Open.Remove(what.Id))
        {
            _cancelledEarly.Add(what.Id);
        }
    }
}
