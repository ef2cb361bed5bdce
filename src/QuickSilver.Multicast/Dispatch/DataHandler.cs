using QuickSilver.Core.Buffers;
using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Receiving;

namespace QuickSilver.Multicast.Dispatch;

// Passes data and announcements to the stream that they name. All packets of a run, and usually those of the next one, belong to one
// stream, which the table of views remembers.
internal sealed class DataHandler(OpenViews views, PacketWays ways, IStreamConsumer consumer) : IPacketHandler
{
    // Ordinary packets have none of these flags.
    private const PacketFlags Marks = PacketFlags.Repair | PacketFlags.Shared;

    // The region whose stability tracker was notified of the present run: once per run is enough.
    private RegionReceiver? _roused;

    public void BeginRun() => _roused = null;

    /// <summary>
    /// Called before some packets of a run, all but the last of one length. Returns how many packets were examined, at least one.
    /// </summary>
    public int LookAhead(ReadOnlySpan<byte> packets, int length) => views.LastStream is { } stream
        ? consumer.LookAhead(stream, packets, length)
        : int.MaxValue;

    public DropReason OnData(in PacketHeader header, Lease lease, int offset)
    {
        if (views.LastStream is { } last && IsOf(last, header))
        {
            return Accept(views.LastRegion!, last, header, lease, offset);
        }

        var sender = new NodeKey(header.Sender, header.Incarnation);
        var refused = views.Find(header, out var region);
        if (refused != DropReason.None)
        {
            return refused;
        }

        refused = region!.FindFor(new StreamKey(sender, new StreamClass(header.StreamClass)), header.Sequence, out var stream);
        if (refused != DropReason.None)
        {
            return refused;
        }

        // Each packet of a departed sender is checked.
        if (!stream!.IsSenderGone)
        {
            views.Remember(region, stream);
        }

        return Accept(region, stream, header, lease, offset);
    }

    /// <summary>Handles an announcement.</summary>
    public DropReason OnPacket(in PacketHeader header, NodeKey sender)
    {
        var refused = views.Find(header, out var region);
        if (refused != DropReason.None)
        {
            return refused;
        }

        if (region!.IsGone(sender))
        {
            return DropReason.UnknownSender;
        }

        var stream = new StreamKey(sender, new StreamClass(header.StreamClass));
        region.OnAnnounce(stream, header.Sequence);
        ways.Note(region, region.FindOrAdd(stream));
        return DropReason.None;
    }

    /// <summary>
    /// Handles a packet for several regions, as the packet of the stream into this member's region. It says nothing about the group of the
    /// region.
    /// </summary>
    public DropReason OnShared(in PacketHeader header, Lease lease, int offset)
    {
        var packet = lease.Span.Slice(offset, header.Length);
        if (!SharedPacket.TryReadList(packet, out var list))
        {
            return DropReason.Malformed;
        }

        if (FindListed(packet, list, out var entry) is not { } region)
        {
            return DropReason.NotListed;
        }

        var refused = FindStream(region, header, out var stream);
        if (refused != DropReason.None)
        {
            return refused;
        }

        refused = Take(region, stream, header.Flags, entry.Number, lease, offset, list.Offset);
        if (refused is DropReason.None or DropReason.Duplicate)
        {
            ways.OnSharedData(region.View.RegionId, packet[..list.Offset]);
        }

        return refused;
    }

    private DropReason FindStream(RegionReceiver region, in PacketHeader header, out InboundStream stream)
    {
        var sender = new NodeKey(header.Sender, header.Incarnation);
        var streamClass = new StreamClass(header.StreamClass);
        if (ReferenceEquals(views.LastRegion, region) && views.LastStream is { } last && last.Sender == sender && last.Class == streamClass)
        {
            stream = last;
            return DropReason.None;
        }

        stream = null!;
        if (!streamClass.IsKnown)
        {
            return DropReason.UnknownClass;
        }

        // What a departed node has sent is accepted only as a repair.
        if (region.IsGone(sender))
        {
            return DropReason.UnknownSender;
        }

        stream = region.FindOrAdd(new StreamKey(sender, streamClass));
        views.Remember(region, stream);
        return DropReason.None;
    }

    // Usually the last region again.
    private RegionReceiver? FindListed(ReadOnlySpan<byte> packet, in SharedList list, out SharedEntry entry)
    {
        if (views.LastRegion is { View: var last } region)
        {
            for (int i = 0; i < list.Used; i++)
            {
                entry = SharedPacket.EntryAt(packet, list, i);
                if (entry.Region == last.RegionId && entry.View == last.Number)
                {
                    return region;
                }
            }
        }

        for (int i = 0; i < list.Used; i++)
        {
            entry = SharedPacket.EntryAt(packet, list, i);
            if (views.Find(entry.Region, entry.View) is { } listed)
            {
                return listed;
            }
        }

        entry = default;
        return null;
    }

    private DropReason Accept(RegionReceiver region, InboundStream stream, in PacketHeader header, Lease lease, int offset)
    {
        ways.Note(region, stream);
        var refused = Take(region, stream, header.Flags, header.Sequence, lease, offset, header.Length);
        if (refused == DropReason.None && (header.Flags & Marks) != 0)
        {
            ways.OnMarked(region.View, lease.Span.Slice(offset, header.Length));
        }

        if (refused == DropReason.None && region.Forwarder is { } forwarder)
        {
            forwarder.OnReceived(header, lease.Span.Slice(offset, header.Length));
        }

        return refused;
    }

    private DropReason Take(
        RegionReceiver region, InboundStream stream, PacketFlags flags, long number, Lease lease, int offset, int length)
    {
        var refused = region.OnData(stream, number, lease, offset, length);
        if (refused != DropReason.None)
        {
            return refused;
        }

        if ((flags & PacketFlags.AckWanted) != 0)
        {
            region.Stability.OnAckWanted();
        }

        if (!ReferenceEquals(_roused, region))
        {
            _roused = region;
            region.Stability.OnActivity(stream);
        }

        return DropReason.None;
    }

    private static bool IsOf(InboundStream stream, in PacketHeader header) =>
        stream.View.RegionId == header.Region
        && stream.View.Number == header.View
        && stream.Sender.Id == header.Sender
        && stream.Sender.Incarnation == header.Incarnation
        && stream.Class.Value == header.StreamClass;
}
