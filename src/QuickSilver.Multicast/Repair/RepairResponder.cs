using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Dispatch;
using QuickSilver.Multicast.Receiving;
using QuickSilver.Multicast.Sending;
using QuickSilver.Multicast.Views;

namespace QuickSilver.Multicast.Repair;

// Sends packets again for others, within the repair budget: to members that pull, packets of this node's own streams and packets that it
// keeps as a member; and to a ring neighbour, packets that the neighbour could not get by itself.
internal sealed class RepairResponder(MulticastContext context, ISentStreams streams, OpenViews views) : IPacketHandler
{
    private const int PushLimit = 32;

    /// <summary>Handles a pull.</summary>
    public DropReason OnPacket(in PacketHeader header, NodeKey sender)
    {
        var body = header.Body;
        if (!PullRequest.TryRead(body, out var origin, out int ranges))
        {
            return DropReason.Malformed;
        }

        if (context.Directory.Find(sender) is not { } address)
        {
            return DropReason.UnknownSender;
        }

        var limit = new AnswerLimit(context.Options.PullAnswerPackets);
        var asker = new RepairAsker(sender, address, header.Sequence);
        if (origin == context.Self && streams.FindSender(header.Region, header.View, StreamClass.Reliable) is { } stream)
        {
            if (!stream.View.Members.Contains(sender))
            {
                return DropReason.NotMember;
            }

            context.Repairs.For(sender);
            for (int i = 0; i < ranges && !limit.IsSpent; i++)
            {
                var (first, last) = PullRequest.Range(body, i);
                stream.Repair(first, last, ref limit, asker);
            }

            return DropReason.None;
        }

        if (views.Find(header.Region, header.View) is not { } region || !region.View.Members.Contains(sender))
        {
            return DropReason.UnknownView;
        }

        if (region.Find(origin) is { } cached)
        {
            context.Repairs.For(sender);
            for (int i = 0; i < ranges && !limit.IsSpent; i++)
            {
                var (first, last) = PullRequest.Range(body, i);
                SendCached(context, cached, new SequenceRange(first, last), ref limit, asker, context.Options.ReorderWindow);
            }
        }

        return DropReason.None;
    }

    /// <summary>Sends those packets to the neighbour that are missing there and kept here.</summary>
    public static void Push(MulticastContext context, InboundStream cached, SequenceRanges gaps, NodeKey neighbour)
    {
        if (gaps.Count == 0 || context.Directory.Find(neighbour) is not { } address)
        {
            return;
        }

        var limit = new AnswerLimit(PushLimit);
        context.Repairs.For(neighbour);
        for (int i = 0; i < gaps.Count && !limit.IsSpent; i++)
        {
            SendCached(context, cached, gaps[i], ref limit, new RepairAsker(neighbour, address, 0), context.Options.PullRepeat);
        }
    }

    /// <summary>Sends one packet that is kept here to a member that is known to lack it.</summary>
    public static void PushOne(MulticastContext context, InboundStream cached, long number, NodeKey member)
    {
        if (context.Directory.Find(member) is { } address)
        {
            context.Repairs.For(member);
            var limit = new AnswerLimit(1);
            var range = new SequenceRange(number, number);
            SendCached(context, cached, range, ref limit, new RepairAsker(member, address, 0), TimeSpan.Zero);
        }
    }

    // A packet that was sent to the same member within the spacing is still in flight.
    private static void SendCached(
        MulticastContext context, InboundStream cached, SequenceRange range, ref AnswerLimit limit, in RepairAsker asker,
        TimeSpan spacing)
    {
        var (first, last) = limit.Next(range.First, range.Last, cached.Stable + 1, cached.Highest);
        for (long n = first; n <= last && limit.Packets > 0 && context.MayRepair(); n++)
        {
            if (cached.TryGetPacket(n, asker.Node, spacing, out var packet))
            {
                context.SendRepair(packet, asker.Address);
                limit.NoteAnswer();
            }
        }
    }
}
