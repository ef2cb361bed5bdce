using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Dispatch;
using QuickSilver.Multicast.Receiving;
using QuickSilver.Multicast.Sending;
using QuickSilver.Multicast.Views;

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

        RegionSender? own = null;
        InboundStream? cached = null;
        if (origin == context.Self && streams.FindSender(header.Region, header.View, StreamClass.Reliable) is { } stream)
        {
            if (!stream.View.Members.Contains(sender))
            {
                return DropReason.NotMember;
            }

            own = stream;
        }
        else if (views.Find(header.Region, header.View) is { } region && region.View.Members.Contains(sender))
        {
            cached = region.Find(origin);
        }
        else
        {
            return DropReason.UnknownView;
        }

        if (own is null && cached is null)
        {
            return DropReason.None;
        }

        if (!context.PendingRepairs.HasRoomFor(ranges))
        {
            return DropReason.RateLimited;
        }

        var asker = new RepairAsker(sender, address, header.Sequence);
        for (int i = 0; i < ranges; i++)
        {
            var (first, last) = PullRequest.Range(body, i);
            context.PendingRepairs.Add(new PendingRepair
            {
                Own = own,
                Cached = cached,
                Range = new SequenceRange(first, last),
                Asker = asker,
                Packets = i == 0 ? context.Options.PullAnswerPackets : 0,
                Time = context.Options.ReorderWindow,
            });
        }

        return DropReason.None;
    }

    /// <summary>Sends those packets to the neighbour that are missing there and kept here.</summary>
    public static void Push(MulticastContext context, InboundStream cached, SequenceRanges gaps, NodeKey neighbour)
    {
        if (context.Directory.Find(neighbour) is not { } address || !context.PendingRepairs.HasRoomFor(gaps.Count))
        {
            return;
        }

        var asker = new RepairAsker(neighbour, address, 0);
        for (int i = 0; i < gaps.Count; i++)
        {
            context.PendingRepairs.Add(new PendingRepair
            {
                Cached = cached,
                Range = gaps[i],
                Asker = asker,
                Packets = i == 0 ? PushLimit : 0,
                Time = context.Options.PullRepeat,
            });
        }
    }

    /// <summary>Sends one packet that is kept here to a member that is known to lack it.</summary>
    public static void PushOne(MulticastContext context, InboundStream cached, long number, NodeKey member)
    {
        if (context.Directory.Find(member) is { } address && context.PendingRepairs.HasRoomFor(1))
        {
            context.PendingRepairs.Add(new PendingRepair
            {
                Cached = cached,
                Range = new SequenceRange(number, number),
                Asker = new RepairAsker(member, address, 0),
                Packets = 1,
            });
        }
    }
}
