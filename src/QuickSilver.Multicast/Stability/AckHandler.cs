using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Repair;
using QuickSilver.Multicast.Sending;
using QuickSilver.Multicast.Sending.Packing;
using QuickSilver.Multicast.Stability.Tokens;

namespace QuickSilver.Multicast.Stability;

// Passes acknowledgements to the stream of this node to which they refer.
internal sealed class AckHandler(NodeContext context, ISentStreams streams, IRepairQueue repairs) : IPacketHandler
{
    public DropReason OnPacket(in PacketHeader header, NodeKey sender)
    {
        if (streams.FindSender(header.Region, header.View, new StreamClass(header.StreamClass)) is not { } stream)
        {
            return DropReason.StaleView;
        }

        // A node that was away and has rejoined acknowledges only for itself: it has removed the other members.
        if (!stream.Live.Contains(sender) || !context.Directory.Contains(sender))
        {
            return DropReason.NotMember;
        }

        if (!AggregateAck.TryRead(header.Body, out var ack))
        {
            return DropReason.Malformed;
        }

        if (ack.Origin != context.Self)
        {
            // It is for an earlier incarnation at this address.
            return DropReason.StaleView;
        }

        // Read may exceed what was sent: other members may have reported packets that were never sent, and those then count as missing.
        if (!stream.HasSent(Math.Max(ack.Stable, ack.Consumed)))
        {
            return DropReason.Malformed;
        }

        if (ack.Gone != stream.Live.Gone)
        {
            // One of the two nodes does not know yet which members have been removed. It will, and the sender asks again meanwhile.
            return DropReason.NotMember;
        }

        context.Counters.AcksReceived++;
        for (int i = 0; context.Options.Experiments.FeedbackRanges > 1 && i < AggregateAck.HeldRanges(header.Body); i++)
        {
            var (first, last) = AggregateAck.HeldRange(header.Body, i);
            stream.LetGo(first, last);
        }

        stream.OnAck(ack.Stable, ack.Consumed, ack.Read, ack.KernelDrops, ack.ReceiveBufferBytes);
        OnLacked(stream, sender, ack, header.Body);
        return DropReason.None;
    }

    // A collective NAK: what no member has is sent again once, to all.
    private void OnLacked(IAcknowledgedStream stream, NodeKey leader, in AggregateAck ack, ReadOnlySpan<byte> body)
    {
        int ranges = AggregateAck.LackedRanges(body);
        if (ranges == 0 || context.Directory.Find(leader) is not { } address)
        {
            return;
        }

        context.Counters.CollectiveNaksReceived++;
        var pending = repairs.Pending;
        if (!pending.TryBegin(new RepairAsker(leader, address, ack.Read), context.Options.PullAnswerPackets, ranges))
        {
            return;
        }

        var knownAt = context.Environment.Now - ack.Age;
        for (int i = 0; i < ranges; i++)
        {
            var (first, last) = AggregateAck.LackedRange(body, i);
            pending.AddForAll(stream.Retransmissions, new SequenceRange(first, last), knownAt);
        }
    }
}
