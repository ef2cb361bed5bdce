using QuickSilver.Core.Alarms;
using QuickSilver.Core.Environment;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Receiving;

namespace QuickSilver.Multicast.Ordering;

// What is lost of best-effort topics, and when it is told.
//
// Intuition: nobody is asked for it, so all there is to wait for is a packet that came late. Application: what a topic's numbers say
// was sent and has not come is told once it cannot be reordering any more, and what waits behind it goes on. They say so when a
// later message comes, in whatever view, or the sender's mark (BestEffortMarks). What waits is copied out of its packet: no packet and no
// stream waits for a topic that does not repair. What goes wrong: a busy topic has more to copy than there is memory for copies; then
// it waits no longer. A reader has no room, or the message that says where the run begins was lost; then what finds no memory is
// lost too, and told later.
internal sealed class UnrepairedLosses(MulticastContext context)
{
    // Of one sender in one topic.
    private const int MostHeld = 4096;

    // All wait equally long, so the first is due first.
    private readonly Queue<(TimeSpan Due, TopicReceiver Receiver, SenderOrder Order, long Through)> _due = new();
    private readonly List<long> _held = [];
    private Alarm? _alarm;

    /// <summary>A message that is not the next one, or for which there is no room above.</summary>
    public void Hold(TopicReceiver receiver, SenderOrder order, InboundStream stream, in StreamMessage message)
    {
        long sequence = message.Delivered.Sequence;
        if (order.Holds(sequence))
        {
            context.Counters.DuplicateMessages++;
            return;
        }

        order.NoteSent(sequence);
        if (order.HeldCount >= MostHeld || !order.TryHoldCopy(stream, message, context.Reassembly))
        {
            if (order.Next != 0 && !order.IsBlocked)
            {
                TellNow(receiver, order, stream, message);
            }
            else
            {
                context.Counters.UnheldMessages++;
            }
        }

        Note(receiver, order);
    }

    /// <summary>If something is missing, it is told in a while.</summary>
    public void Note(TopicReceiver receiver, SenderOrder order)
    {
        // Before it is known where a run begins there is nothing to tell, and what a reader has no room for is told when it has.
        bool isNothing = order.Next == 0 ? order.HeldCount == 0 : order.SentThrough < order.Next;
        if (isNothing || order.IsBlocked || order.IsOver || order.IsLossNoted)
        {
            return;
        }

        order.IsLossNoted = true;
        var wait = context.Options.BestEffortPatience;
        _due.Enqueue((context.Environment.Now + wait, receiver, order, order.SentThrough));
        _alarm ??= new Alarm(OnDue);
        if (!_alarm.IsPending)
        {
            context.Environment.Schedule(_alarm, wait);
        }
    }

    public void Close() => context.Environment.CancelIfMade(_alarm);

    private void OnDue()
    {
        var now = context.Environment.Now;
        while (_due.TryPeek(out var next))
        {
            if (next.Due > now)
            {
                context.Environment.Schedule(_alarm!, next.Due - now);
                return;
            }

            _due.Dequeue();
            next.Order.IsLossNoted = false;
            if (next.Order.IsOver)
            {
                continue;
            }

            if (next.Order.Next == 0 && !context.Directory.Contains(next.Order.Sender))
            {
                BeginAnyhow(next.Receiver, next.Order);
            }

            if (next.Order.Next != 0)
            {
                Tell(next.Receiver, next.Order, next.Through);
            }

            Note(next.Receiver, next.Order);
        }
    }

    // Of a sender that is gone: nobody says any more where its run began.
    private static void BeginAnyhow(TopicReceiver receiver, SenderOrder order)
    {
        if (order.TryFirstHeld(out long first))
        {
            order.Next = first;
            receiver.Drain(order);
        }
    }

    private void Tell(TopicReceiver receiver, SenderOrder order, long through)
    {
        order.CopyHeld(through, _held);
        int at = 0;
        while (order.Next <= through && !order.IsBlocked && !order.IsOver)
        {
            while (at < _held.Count && _held[at] < order.Next)
            {
                at++;
            }

            long last = at < _held.Count ? _held[at] - 1 : through;
            if (last >= order.Next)
            {
                receiver.GiveUp(order, last, TopicGapReason.Unrepaired);
            }

            receiver.Drain(order);
        }
    }

    // There is no memory to wait with: what is missing before it is not waited for.
    private void TellNow(TopicReceiver receiver, SenderOrder order, InboundStream stream, in StreamMessage message)
    {
        long sequence = message.Delivered.Sequence;
        Tell(receiver, order, sequence - 1);
        if (order.IsOver || order.Next != sequence)
        {
            return;
        }

        if (receiver.TryPass(order, message.Delivered))
        {
            order.Next++;
            receiver.Drain(order);
            return;
        }

        if (!order.TryHoldCopy(stream, message, context.Reassembly))
        {
            context.Counters.UnheldMessages++;
        }
    }
}
