using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Dispatch;
using QuickSilver.Multicast.Sending;

namespace QuickSilver.Multicast.Stability;

// Acknowledgements: to the stream of this node that they are of.
internal sealed class AckHandler(MulticastContext context, ISentStreams streams) : IPacketHandler
{
    public DropReason OnPacket(in PacketHeader header, NodeKey sender)
    {
        if (streams.FindSender(header.Region, header.View, StreamClass.Reliable) is not { } stream)
        {
            return DropReason.StaleView;
        }

        // One that was away and is back tells of what it holds alone: the others it has given up.
        if (!stream.IsLive(sender) || !context.Directory.Contains(sender))
        {
            return DropReason.NotMember;
        }

        if (!AggregateAck.TryRead(header.Body, out var ack))
        {
            return DropReason.Malformed;
        }

        if (ack.Origin != context.Self)
        {
            // For an earlier life at this address.
            return DropReason.StaleView;
        }

        // What is read may be more: others may have told of what was never sent, and then that much counts as missing.
        if (!stream.HasSent(Math.Max(ack.Stable, ack.Consumed)))
        {
            return DropReason.Malformed;
        }

        if (!stream.CountsAll(ack.Gone))
        {
            // One of both has not heard yet who is gone. It will, and the sender asks again meanwhile.
            return DropReason.NotMember;
        }

        context.Counters.AcksReceived++;
        for (int i = 0; context.Options.FeedbackRanges > 1 && i < AggregateAck.HeldRanges(header.Body); i++)
        {
            var (first, last) = AggregateAck.HeldRange(header.Body, i);
            stream.LetGo(first, last);
        }

        stream.OnAck(ack.Stable, ack.Consumed, ack.Read, ack.KernelDrops, ack.ReceiveBufferBytes);
        return DropReason.None;
    }
}
