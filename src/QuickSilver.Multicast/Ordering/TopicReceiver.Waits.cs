using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Nodes;

namespace QuickSilver.Multicast.Ordering;

// The wait of messages for an earlier one of their sender. It ends when that one comes, or when a loss is reported. If neither happens,
// nothing would ever end it, and the messages that wait hold up all other topics of their stream.
//
// Intuition: a sender puts the messages of a topic into its views one after the other. A message can therefore only come before those that
// are here, in their stream or in an older view. Application: when all packets before them were read and no older view may bring more, the
// message cannot come. The protocol loses none in this way; so it is an error if it does, and the gap and the log say so.
internal sealed partial class TopicReceiver
{
    /// <summary>The messages that later ones, which are here, wait for.</summary>
    public IEnumerable<AwaitedMessage> AwaitedMessages
    {
        get
        {
            foreach (var order in IsReliable ? Orders : [])
            {
                if (order.HeldCount > 0 && !order.IsBlocked)
                {
                    yield return order.Awaited ??= new AwaitedMessage(this, order);
                }
            }
        }
    }

    /// <summary>Reports the messages before the first that is here as a gap, if nothing can bring them any more.</summary>
    public void GiveUpUnaccounted(SenderOrder order)
    {
        if (order.IsOver || order.IsBlocked || order.IsUnproven || !order.TryFirstHeld(out long first))
        {
            return;
        }

        order.TryPeekHeld(first, out var held);
        var stream = held.Stream;
        // What is lost of a sender that is gone, the members decide and report.
        if (stream.IsSenderGone || IsAhead(stream) || !stream.HasRead(held.Packet) || _node.MayBringMoreBefore(stream))
        {
            return;
        }

        if (order.Next == 0)
        {
            // A run of which the beginning is not known begins here.
            order.SkipTo(first);
        }
        else
        {
            ReportUnaccounted(order, first);
        }

        Drain(order);
    }

    // What was sent before the present run is a gap with a cause.
    private void ReportUnaccounted(SenderOrder order, long first)
    {
        if (order.RunStart > order.Next)
        {
            GiveUp(order, Math.Min(order.RunStart, first) - 1, TopicGapReason.SentElsewhere);
        }

        if (order.Next < first)
        {
            _node.Context.Counters.MessagesUnaccounted += first - order.Next;
            MulticastLog.Unaccounted(_node.Context.Log, order.Next, first - 1, _node.Context.Named(order.Sender), Label);
            GiveUp(order, first - 1, TopicGapReason.Unaccounted);
        }
    }
}
