using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Receiving;
using QuickSilver.Multicast.Sending;

namespace QuickSilver.Multicast.Repair;

// Notes what to send again for others (PendingRepairs): to members that pull, packets of this node's own streams and packets that it keeps
// as a member; and to a ring neighbour, packets that the neighbour could not get by itself.
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

        var asker = new RepairAsker(sender, address, header.Sequence);
        if (origin == context.Self && streams.FindSender(header.Region, header.View, StreamClass.Reliable) is { } own)
        {
            return own.View.Members.Contains(sender) ? Note(own, null, body, ranges, asker) : DropReason.NotMember;
        }

        if (views.Find(header.Region, header.View) is not { } region || !region.View.Members.Contains(sender))
        {
            return DropReason.UnknownView;
        }

        return region.Find(origin) is { } cached ? Note(null, cached, body, ranges, asker) : DropReason.None;
    }

    /// <summary>Sends those packets to the neighbour that are missing there and kept here.</summary>
    public static void Push(MulticastContext context, InboundStream cached, SequenceRanges gaps, NodeKey neighbour) =>
        Push(context, cached, gaps.Ranges, neighbour, PushLimit, context.Options.PullRepeat);

    /// <summary>Sends one packet that is kept here to a member that is known to lack it.</summary>
    public static void PushOne(MulticastContext context, InboundStream cached, long number, NodeKey member) =>
        Push(context, cached, [new SequenceRange(number, number)], member, packets: 1, TimeSpan.Zero);

    private static void Push(
        MulticastContext context, InboundStream cached, ReadOnlySpan<SequenceRange> ranges, NodeKey to, int packets, TimeSpan spacing)
    {
        if (context.Directory.Find(to) is { } address
            && context.PendingRepairs.TryBegin(new RepairAsker(to, address, 0), packets, ranges.Length))
        {
            foreach (var range in ranges)
            {
                context.PendingRepairs.Add(cached, range, spacing);
            }
        }
    }

    // One of the two streams is given.
    private DropReason Note(RegionSender? own, InboundStream? cached, ReadOnlySpan<byte> body, int ranges, in RepairAsker asker)
    {
        var pending = context.PendingRepairs;
        if (!pending.TryBegin(asker, context.Options.PullAnswerPackets, ranges))
        {
            return DropReason.RateLimited;
        }

        for (int i = 0; i < ranges; i++)
        {
            var (first, last) = PullRequest.Range(body, i);
            var range = new SequenceRange(first, last);
            context.Sizes.SuspectIfMany(asker.Address, last - first + 1);
            if (own is not null)
            {
                pending.Add(own, range);
            }
            else
            {
                pending.Add(cached!, range, context.Options.ReorderWindow);
            }
        }

        return DropReason.None;
    }
}
