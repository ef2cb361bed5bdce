using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Reassembly;

namespace QuickSilver.Multicast.Ordering;

// The messages for which the sink has no room: they are parked, and offered again when the sink says that it has room, and from time to
// time without that (SlowReaders).
internal sealed partial class TopicReceiver
{
    // Of one sender's parked messages, before another's.
    private const int TurnMessages = 16;

    // The sender that is the first to get room rotates.
    private int _firstTurn;

    // Messages of later views wait for the reader too. Their sender is held, because they would wait in each of these views.
    private void HoldIfReaderIsSlow(SenderOrder order)
    {
        if (order.Next != 0 && IsAnyBlocked)
        {
            _node.SlowReaders.OnAhead(this, order);
        }
    }

    /// <summary>Passes the message to the sink, or parks it while the sink has no room. False: there is no memory to park it.</summary>
    public bool TryPass(SenderOrder order, in DeliveredMessage message)
    {
        bool isPassed = !order.IsBlocked && MayOffer(order) && order.TryHandUp(message, _node.Context.Counters);
        if (!isPassed)
        {
            NoteIfStarved(order);
            if (!order.IsBlocked)
            {
                // Before the message is parked: if there is no memory for this, it comes again.
                _node.SlowReaders.OnBlocked(this, order);
                order.IsBlocked = true;
            }

            isPassed = TryPark(order, message);
        }

        order.Slow?.OnArrived(message.WithExtensions.Length);
        return isPassed;
    }

    // A message that was refused memory is offered again after a pause.
    private bool MayOffer(SenderOrder order)
    {
        if (order.IsStarved)
        {
            if (_node.Context.Shortage.IsPausing)
            {
                return false;
            }

            order.IsStarved = false;
        }

        return true;
    }

    private void NoteIfStarved(SenderOrder order)
    {
        if (order.IsStarved)
        {
            _node.Context.Shortage.OnRefused();
        }
    }

    // While the heap has no memory, a large message stays where it is.
    private bool TryPark(SenderOrder order, in DeliveredMessage message)
    {
        var context = _node.Context;
        if (message.Length > ReassemblyBudget.SmallBytes && context.Shortage.IsPausing)
        {
            return false;
        }

        bool isParked = order.TryPark(message, _node.Parking);
        if (!isParked && _node.Parking.WasRefused)
        {
            context.Shortage.OnRefused();
        }

        return isParked;
    }

    public IReadOnlyList<UntakenRange> Untaken()
    {
        var ranges = new List<UntakenRange>();
        foreach (var order in _senders ?? [])
        {
            if (order.TryGetUntaken(out long first, out long last))
            {
                ranges.Add(new UntakenRange(order.Sender, first, last));
            }
        }

        return ranges;
    }

    public void Resume() => HandUpParked(isRoom: true);

    /// <summary>
    /// Offers the sink what waits, without its word that it has room: that comes only when it has much (ITopicReceiver.Resume).
    /// </summary>
    public void Offer() => HandUpParked(isRoom: false);

    private void HandUpParked(bool isRoom)
    {
        OfferInTurn();
        for (int i = 0; i < _senders?.Count; i++)
        {
            var order = _senders[i];
            if (order.IsBlocked)
            {
                order.IsBlocked = order.ParkedCount > 0;
                Drain(order);
                if (!order.IsBlocked)
                {
                    OnUnblocked(order);
                }
            }

            Stable?.OnTaken(order.Sender, order.Taken);
            if (isRoom && order.Slow is not null)
            {
                _node.SlowReaders.OnRoom(order);
            }
        }

        if (_isPinned && !_isClosed)
        {
            _node.ViewsOf(TopicId)?.TryInstall();
        }
    }

    // The senders get the room in turns of some messages, so that none waits for all that another one has sent.
    private void OfferInTurn()
    {
        bool isAnyLeft = _senders?.Count > 0;
        _firstTurn++;
        while (isAnyLeft)
        {
            isAnyLeft = false;
            for (int i = 0; i < _senders?.Count; i++)
            {
                var order = _senders[(int)((uint)(_firstTurn + i) % (uint)_senders.Count)];
                if (order.IsBlocked && MayOffer(order))
                {
                    isAnyLeft |= order.HandUpParked(TopicId, TurnMessages, _node.Context.Counters) == HandUp.Some;
                    NoteIfStarved(order);
                }
            }
        }
    }

    private void OnUnblocked(SenderOrder order)
    {
        if (order.PendingLoss is { } stream)
        {
            order.PendingLoss = null;
            _node.OnLoss(stream);
        }

        if (!IsReliable)
        {
            _node.Losses.Note(this, order);
        }
    }
}
