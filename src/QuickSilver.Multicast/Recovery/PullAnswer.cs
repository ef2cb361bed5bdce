using QuickSilver.Core.Transport;
using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Dissemination;

namespace QuickSilver.Multicast.Recovery;

// What a node gives to who pulls: of its own stream as its sender, of others' what it keeps as a member.
internal static class PullAnswer
{
    /// <param name="context">The node's.</param>
    /// <param name="node">Whose streams they may be.</param>
    /// <param name="region">The view, if this node is a member of it.</param>
    /// <param name="header">The pull.</param>
    /// <param name="from">Who sent it.</param>
    public static DropReason Give(
        MulticastContext context, MulticastNode node, RegionReceiver? region, in PacketHeader header, NodeKey from)
    {
        var body = header.Body;
        if (!PullRequest.TryRead(body, out var origin, out int ranges))
        {
            return DropReason.Malformed;
        }

        if (context.Directory.Find(from) is not { } address)
        {
            return DropReason.UnknownSender;
        }

        var limit = new AnswerLimit(context.Options.PullAnswerPackets);
        if (origin == context.Self && node.FindSender(header.Region, header.View, StreamClass.Reliable) is { } stream)
        {
            if (!stream.View.Members.Contains(from))
            {
                return DropReason.NotMember;
            }

            context.Repairs.For(from);
            for (int i = 0; i < ranges && !limit.IsSpent; i++)
            {
                var (first, last) = PullRequest.Range(body, i);
                stream.Repair(first, last, ref limit, new RepairAsker(from, address, header.Sequence));
            }

            return DropReason.None;
        }

        if (region is null || !region.View.Members.Contains(from))
        {
            return DropReason.UnknownView;
        }

        if (region.Find(origin) is { } cached)
        {
            context.Repairs.For(from);
            for (int i = 0; i < ranges && !limit.IsSpent; i++)
            {
                var (first, last) = PullRequest.Range(body, i);
                Repair(context, cached, first, last, ref limit, from, address);
            }
        }

        return DropReason.None;
    }

    private static void Repair(
        MulticastContext context, InboundStream cached, long first, long last, ref AnswerLimit limit, NodeKey from, DatagramAddress to)
    {
        (first, last) = limit.Next(first, last, cached.Stable + 1, cached.Highest);
        for (long n = first; n <= last && limit.Packets > 0 && context.MayRepair(); n++)
        {
            if (cached.TryGetPacket(n, from, context.Options.ReorderWindow, out var packet))
            {
                context.SendRepair(packet, to);
                limit.NoteAnswer();
            }
        }
    }
}
