using System.Runtime.CompilerServices;
using QuickSilver.Core.Transport;
using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Hearing;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Receiving;
using QuickSilver.Multicast.Sending;

namespace QuickSilver.Multicast.Dispatch;

// Notes whether packets come over a group or by unicast, which the port shows at which they arrive, and handles the packets with which
// members and senders report that to each other. The way of a run is noted once for each stream in it.
internal sealed class PacketWays : IPacketHandler
{
    private readonly SendingParts _parts;
    private readonly ISentStreams _sent;
    private readonly OpenViews _views;
    // The unicast port as it appears in received runs.
    private readonly IDatagramPort _unicast;
    private Way _way;
    private InboundStream? _noted;

    public PacketWays(SendingParts parts, ISentStreams sent, OpenViews views, IDatagramPort unicast)
    {
        _parts = parts;
        _unicast = unicast;
        _sent = sent;
        _views = views;
        UnheardSenders = new UnheardSenders(parts.Node, parts.Deaf.Report);
    }

    private enum Way : byte
    {
        Group,
        Unicast,
        // The packet was kept until its view became known, and its way was not recorded.
        Unknown,
    }

    private UnheardSenders UnheardSenders { get; }

    /// <summary>Which addresses of topics this node does not hear.</summary>
    private TopicHearing Topics => field ??= new TopicHearing(_parts.Node);

    public void OnRun(IDatagramPort port)
    {
        _noted = null;
        _way = ReferenceEquals(port, _unicast) ? Way.Unicast : Way.Group;
    }

    public void OnReplay()
    {
        _noted = null;
        _way = Way.Unknown;
    }

    /// <summary>Notes a packet of this stream, which may be a duplicate.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Note(RegionReceiver region, InboundStream stream)
    {
        if (!ReferenceEquals(_noted, stream))
        {
            NoteFirst(region, stream);
        }
    }

    /// <summary>A packet came over the address of its topic.</summary>
    public void OnSharedData(ulong region, ReadOnlySpan<byte> packet)
    {
        _parts.Node.Counters.SharedPacketsReceived++;
        Topics.OnHeard(region, packet);
    }

    /// <summary>A data packet that was sent again, or was made of a shared one, or both, came and is new here.</summary>
    public void OnMarked(RegionView view, ReadOnlySpan<byte> packet)
    {
        var flags = new PacketHeader(packet).Flags;
        if ((flags & PacketFlags.Repair) == 0)
        {
            Topics.OnHeard(view.RegionId, packet);
            return;
        }

        _parts.Node.Counters.RepairsReceived++;
        if ((flags & PacketFlags.Shared) != 0)
        {
            Topics.OnMissed(view, packet);
        }
    }

    public void OnViewClosed(RegionView view)
    {
        if (!UnheardSenders.IsEmpty)
        {
            UnheardSenders.OnViewClosed(view, _views.All.FindLast(other => other.View.RegionId == view.RegionId)?.View);
        }
    }

    /// <summary>Handles a Hearing packet.</summary>
    public DropReason OnPacket(in PacketHeader header, NodeKey sender)
    {
        if (!HearingNotice.TryRead(header.Body, out var notice))
        {
            return DropReason.Malformed;
        }

        if (notice.Word is HearingWord.Asks or HearingWord.Deaf or HearingWord.Hears or HearingWord.MissesTopic)
        {
            // A packet with another origin is for an earlier incarnation at this address.
            return notice.Origin == _parts.Node.Self ? OnWord(header.Region, header.View, sender, notice) : DropReason.StaleView;
        }

        var region = _views.Find(header.Region, header.View);
        if (region is null || notice.Origin != sender)
        {
            return DropReason.UnknownView;
        }

        if (region.IsGone(sender))
        {
            return DropReason.UnknownSender;
        }

        if (notice.Word == HearingWord.Probe)
        {
            if (_way == Way.Group)
            {
                UnheardSenders.OnProbe(region.View, sender, header.Sequence);
            }

            return DropReason.None;
        }

        UnheardSenders.OnAnswer(region.View, sender, notice.Word, region.MayHear);
        if (notice.Word == HearingWord.Unserved && region.HasGroup && region.IsSilent(sender))
        {
            UnheardSenders.OnSilent(region.View, sender, region.MayHear);
        }

        return DropReason.None;
    }

    public void OnNodeGone(NodeKey node)
    {
        UnheardSenders.ForgetSender(node);
        _parts.Deaf.OnNodeGone(node);
    }

    public void Close()
    {
        UnheardSenders.Close();
        _parts.Deaf.Close();
    }

    private DropReason OnWord(ulong region, uint view, NodeKey member, in HearingNotice notice)
    {
        if (!_parts.Node.Directory.Contains(member) || !_parts.Deaf.IsMember(region, member))
        {
            return DropReason.NotMember;
        }

        if (notice.Word == HearingWord.MissesTopic)
        {
            if (!IsSent(notice.Topic, region, view))
            {
                return DropReason.NotMember;
            }

            _parts.NoteUnheard(notice.Topic, region);
            return DropReason.None;
        }

        if (_parts.Deaf.OnWord(region, member, notice.Word))
        {
            foreach (var sender in _sent.Streams)
            {
                if (sender.View.RegionId == region)
                {
                    sender.AnnounceTo(member);
                }
            }
        }

        return DropReason.None;
    }

    // Nothing else is noted, so that no node can fill the table.
    private bool IsSent(ulong topicId, ulong region, uint view)
    {
        foreach (var streamClass in StreamClass.All)
        {
            if (_sent.FindSender(region, view, streamClass) is { } stream && stream.HasStarted(topicId))
            {
                return true;
            }
        }

        return false;
    }

    private void NoteFirst(RegionReceiver region, InboundStream stream)
    {
        _noted = stream;
        if (_way == Way.Group)
        {
            stream.Heard.Set();
            if (!UnheardSenders.IsEmpty)
            {
                UnheardSenders.OnHeard(region.View.RegionId, stream.Sender);
            }
        }
        else if (_way == Way.Unicast && region is { SupersededAt: 0, HasGroup: true } && !stream.IsSenderGone
            && stream.Heard.IsSilent(_parts.Node.Environment.Now))
        {
            UnheardSenders.OnSilent(region.View, stream.Sender, region.MayHear);
        }
    }
}
