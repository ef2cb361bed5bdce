using QuickSilver.Core.Alarms;
using QuickSilver.Core.Environment;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Receiving;

namespace QuickSilver.Multicast.Ordering.BestEffort;

// Reports the losses of best-effort topics.
//
// Lost packets of these topics are not requested again, so the only reason to wait is a packet that arrives late. Application: the numbers
// of a topic show that messages were sent that have not arrived, when a later message arrives in any view, or the sender's mark
// (BestEffortMarks). Once reordering can no longer explain their absence, they are reported as lost, and the messages that wait behind them
// are delivered. Messages that wait are copied out of their packets, so that no packet and no stream waits for a topic without repair. What
// goes wrong: a busy topic has more messages to copy than there is memory for copies; it then does not wait. Or a reader has no room, or
// the message that shows where the run begins was lost; messages for which there is no memory are then lost too, and reported later.
internal sealed class UnrepairedLosses(ReceivingParts parts)
{
    // The limit for one sender in one topic.
    private const int MostHeld = 4096;

    // All entries wait for the same time, so the first is due first.
    private readonly Queue<(TimeSpan Due, TopicReceiver Receiver, SenderOrder Order, long Through)> _due = new();
    private readonly List<long> _held = [];
    private Alarm? _alarm;

    private NodeContext Context => parts.Node;

    /// <summary>Holds a message that is not the next one, or for which the sink has no room.</summary>
    public void Hold(TopicReceiver receiver, SenderOrder order, ConsumedStream stream, in StreamMessage message)
    {
        long sequence = message.Delivered.Sequence;
        if (order.Holds(sequence))
        {
            Context.Counters.DuplicateMessages++;
            return;
        }

        order.NoteSent(sequence);
        if (order.HeldCount >= MostHeld || !order.TryHoldCopy(stream, message, parts.Reassembly))
        {
            if (order.Next != 0 && !order.IsBlocked)
            {
                ReportNow(receiver, order, stream, message);
            }
            else
            {
                Context.Counters.UnheldMessages++;
            }
        }

        Note(receiver, order);
    }

    /// <summary>Schedules the report of missing messages, if there are any.</summary>
    public void Note(TopicReceiver receiver, SenderOrder order)
    {
        // Until the beginning of a run is known there is nothing to report. A loss of a reader that has no room is reported when it has
        // room.
        bool isNothing = order.Next == 0 ? order.HeldCount == 0 : order.SentThrough < order.Next;
        if (isNothing || order.IsBlocked || order.IsOver || order.IsLossNoted)
        {
            return;
        }

        order.IsLossNoted = true;
        var wait = parts.BestEffortPatience;
        _due.Enqueue((Context.Environment.Now + wait, receiver, order, order.SentThrough));
        _alarm ??= new Alarm(OnDue);
        if (!_alarm.IsPending)
        {
            Context.Environment.Schedule(_alarm, wait);
        }
    }

    public void Close() => Context.Environment.CancelIfMade(_alarm);

    private void OnDue()
    {
        var now = Context.Environment.Now;
        while (_due.TryPeek(out var next))
        {
            if (next.Due > now)
            {
                Context.Environment.Schedule(_alarm!, next.Due - now);
                return;
            }

            _due.Dequeue();
            next.Order.IsLossNoted = false;
            if (next.Order.IsOver)
            {
                continue;
            }

            if (next.Order.Next == 0 && !Context.Directory.Contains(next.Order.Sender))
            {
                BeginAnyhow(next.Receiver, next.Order);
            }

            if (next.Order.Next != 0)
            {
                Report(next.Receiver, next.Order, next.Through);
            }

            Note(next.Receiver, next.Order);
        }
    }

    // For a departed sender: no packet will show any more where its run began.
    private static void BeginAnyhow(TopicReceiver receiver, SenderOrder order)
    {
        if (order.TryFirstHeld(out long first))
        {
            order.SkipTo(first);
            receiver.Drain(order);
        }
    }

    private void Report(TopicReceiver receiver, SenderOrder order, long through)
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

    // There is no memory to hold the message, so the missing messages before it are not waited for.
    private void ReportNow(TopicReceiver receiver, SenderOrder order, ConsumedStream stream, in StreamMessage message)
    {
        long sequence = message.Delivered.Sequence;
        Report(receiver, order, sequence - 1);
        if (order.IsOver || order.Next != sequence)
        {
            return;
        }

        if (receiver.TryPass(order, message.Delivered))
        {
            order.Advance();
            receiver.Drain(order);
            return;
        }

        if (!order.TryHoldCopy(stream, message, parts.Reassembly))
        {
            Context.Counters.UnheldMessages++;
        }
    }
}
