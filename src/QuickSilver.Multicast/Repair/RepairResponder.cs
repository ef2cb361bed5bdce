using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Receiving;
using QuickSilver.Multicast.Schemes;
using QuickSilver.Multicast.Sending;
using QuickSilver.Multicast.Sending.Packing;
using QuickSilver.Multicast.Sending.Repairs;

namespace QuickSilver.Multicast.Repair;

// Notes what to send again for others (PendingRepairs): to members that pull, packets of this node's own streams and packets that it keeps
// as a member.
internal sealed class RepairResponder(SendingParts parts, ISentStreams streams, OpenViews views, IRepairQueue repairs) : IPacketHandler
{
    /// <summary>Handles a pull.</summary>
    public DropReason OnPacket(in PacketHeader header, NodeKey sender)
    {
        var body = header.Body;
        if (!PullRequest.TryRead(body, out var origin, out int ranges))
        {
            return DropReason.Malformed;
        }

        if (parts.Node.Directory.Find(sender) is not { } address)
        {
            return DropReason.UnknownSender;
        }

        var streamClass = new StreamClass(header.StreamClass);
        var asker = new RepairAsker(sender, address, header.Sequence);
        if (origin == parts.Node.Self && streams.FindSender(header.Region, header.View, streamClass) is { } own)
        {
            return own.View.Members.Contains(sender) ? Note(own.Retransmissions, null, body, ranges, asker) : DropReason.NotMember;
        }

        if (views.Find(header.Region, header.View) is not { } region || !region.View.Members.Contains(sender))
        {
            return DropReason.UnknownView;
        }

        return region.Find(new StreamKey(origin, streamClass)) is { } cached ? Note(null, cached, body, ranges, asker) : DropReason.None;
    }

    // One of the two streams is given.
    private DropReason Note(Retransmissions? own, IKeptStream? cached, ReadOnlySpan<byte> body, int ranges, in RepairAsker asker)
    {
        var pending = repairs.Pending;
        if (!pending.TryBegin(asker, parts.Node.Options.PullAnswerPackets, ranges))
        {
            return DropReason.RateLimited;
        }

        for (int i = 0; i < ranges; i++)
        {
            var (first, last) = PullRequest.Range(body, i);
            var range = new SequenceRange(first, last);
            parts.Paths.Sizes.SuspectIfMany(asker.Address, last - first + 1);
            if (own is not null)
            {
                pending.Add(own, range);
            }
            else
            {
                pending.Add(cached!, range, parts.Node.Options.ReorderWindow);
            }
        }

        return DropReason.None;
    }
}
