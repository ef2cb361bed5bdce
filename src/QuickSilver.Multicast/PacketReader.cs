using System.Collections.Immutable;
using System.Net;
using QuickSilver.Core.Alarms;
using QuickSilver.Core.Buffers;
using QuickSilver.Core.Environment;
using QuickSilver.Core.Transport;
using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Dissemination;
using QuickSilver.Multicast.Ordering;
using QuickSilver.Multicast.Recovery;
using QuickSilver.Multicast.Views;

namespace QuickSilver.Multicast;

// Everything that arrives: splits coalesced runs by the lengths that headers state, refuses by reason, and hands each packet
// to its view. Knows the views of which this node is a member, by region and number.
internal sealed class PacketReader(MulticastOptions options) : IDatagramReceiver
{
    private static readonly TimeSpan CloseRetry = TimeSpan.FromMilliseconds(500);

    private readonly Dictionary<(ulong Region, uint View), RegionReceiver> _regions = [];
    private readonly List<RegionReceiver> _ordered = [];
    // By group; null before the first.
    private Dictionary<IPEndPoint, RegionPort>? _ports;
    // What is of these, or older, is stale; what is newer is early. Null: none was closed.
    private ClosedViews? _closed;
    // Null until such a packet comes.
    private UnknownViewBuffer? _unknown;
    private readonly LookAhead _lookAhead = new();
    private Alarm? _expiry;
    private Alarm? _retry;
    private MulticastContext? _context;
    private MulticastNode? _node;
    private long _settled;
    private ImmutableArray<OpenView> _open = [];
    // Where the last data packet went: a run, and mostly the next one too, is of one stream. Forgotten whenever a view or the
    // directory changes.
    private RegionReceiver? _lastRegion;
    private InboundStream? _lastStream;
    private PacketWays? _ways;
    // The region whose ring was told of the present run: once is enough.
    private RegionReceiver? _roused;

    public IReadOnlyCollection<RegionReceiver> Regions => _ordered;

    public List<RegionReceiver> OpenRegions => _ordered;

    /// <summary>Views that are remembered as closed.</summary>
    public int RememberedViews => _closed?.Count ?? 0;

    public void Attach(MulticastContext context, MulticastNode node)
    {
        _ways = new PacketWays(context, node);
        _context = context;
        _node = node;
    }

    public bool IsControl(ReadOnlySpan<byte> firstBytes) =>
        firstBytes.Length > PacketHeader.KindOffset && firstBytes[PacketHeader.KindOffset] != (byte)PacketKind.Data;

    public void OnRun(in ReceivedRun run)
    {
        if (_context is null)
        {
            return;
        }

        // What is the same for all packets of a run is done once for all of them: a look at the clock or at the ring costs as
        // much as the rest of a packet's way.
        _roused = null;
        _ways!.OnRun(run.Port);
        int packets = 0;
        int bytes = 0;
        try
        {
            Split(run, _context, ref packets, ref bytes);
        }
        finally
        {
            _context.Counters.PacketsReceived += packets;
            _context.Counters.BytesReceived += bytes;
        }
    }

    public void OnBatchEnd()
    {
        if (_settled > 0)
        {
            CloseSettled(_settled, _open);
        }
    }

    public void Open(RegionView view, IStreamConsumer consumer)
    {
        RegionPort? port = null;
        if (!options.Unicast && view.Group is { } group)
        {
            var ports = _ports ??= [];
            if (!ports.TryGetValue(group, out port))
            {
                port = new RegionPort(_context!, group, this, closed => ports.Remove(closed.Group));
                ports.Add(group, port);
            }
        }

        var region = new RegionReceiver(_context!, view, port, consumer);
        _regions.Add((view.RegionId, view.Number), region);
        _ordered.Add(region);
    }

    public void Supersede(ulong regionId, long configuration)
    {
        foreach (var region in _ordered)
        {
            if (region.View.RegionId == regionId)
            {
                region.Supersede(configuration);
            }
        }
    }

    public void OnNodeGone(NodeKey node)
    {
        ForgetLast();
        _ways!.OnNodeGone(node);
        foreach (var region in _ordered)
        {
            region.OnNodeGone(node);
        }
    }

    public void OnNodesCame()
    {
        ForgetLast();
        foreach (var region in _ordered)
        {
            region.OnNodesCame();
        }
    }

    /// <summary>
    /// Whether something of a sender may still come that was sent before what is here of it: in a stream that is at its end, or in a
    /// view older than its newest stream, of which the others may yet tell what this member has never heard of.
    /// </summary>
    public bool IsAnyMissing(NodeKey sender)
    {
        long newest = 0;
        foreach (var region in _ordered)
        {
            foreach (var stream in region.Streams)
            {
                if (stream.Sender == sender && stream.IsReliable)
                {
                    newest = Math.Max(newest, region.View.Configuration);
                    if (stream.IsSenderGone && stream.Contiguous < stream.Highest)
                    {
                        return true;
                    }
                }
            }
        }

        foreach (var region in _ordered)
        {
            if (region.SupersededAt != 0 && region.View.Configuration < newest && region.MayHearMoreOf(sender))
            {
                return true;
            }
        }

        return false;
    }

    /// <summary>
    /// Whether the sender's streams of older views hold something that was not read yet; then those above are told of the loss again
    /// when they are.
    /// </summary>
    public bool AwaitReadBefore(InboundStream stream)
    {
        bool isAnyUnread = false;
        foreach (var region in _ordered)
        {
            if (region.View.Configuration >= stream.View.Configuration)
            {
                continue;
            }

            foreach (var older in region.Streams)
            {
                isAnyUnread |= older.Sender == stream.Sender && older.Class == stream.Class && older.AwaitRead();
            }
        }

        return isAnyUnread;
    }

    public void ReplayUnknown()
    {
        // What is put back goes to the end, and what is too old by now goes meanwhile.
        int left = _unknown?.Count ?? 0;
        _roused = null;
        _ways!.OnReplay();
        while (left-- > 0 && _unknown!.TryTake(out var lease, out int offset, out int length, out var arrived))
        {
            var header = new PacketHeader(lease.Span.Slice(offset, length));
            var refused = Dispatch(header, lease, offset, arrived);
            if (refused != DropReason.None)
            {
                _context!.Counters.Drop(refused);
            }

            lease.Release();
        }
    }

    /// <summary>Closes what was superseded until then and is not open, as far as nothing of it is wanted here.</summary>
    public void CloseSettled(long settled, ImmutableArray<OpenView> open)
    {
        _settled = 0;
        _open = open;
        ForgetLast();
        int before = _ordered.Count;
        for (int i = 0; i < _ordered.Count; i++)
        {
            var region = _ordered[i];
            bool isSettled = region.SupersededAt != 0 && region.SupersededAt <= settled;
            if (!isSettled || open.Contains(new OpenView(region.View.RegionId, region.View.Number)))
            {
                continue;
            }

            if (!region.MayClose)
            {
                region.GiveUpIfAlone();
                _settled = settled;
                continue;
            }

            _ordered.RemoveAt(i--);
            _regions.Remove((region.View.RegionId, region.View.Number));
            (_closed ??= new ClosedViews(_context!.Environment)).Add(region.View.RegionId, region.View.Number);
            region.Close();
            _ways!.OnViewClosed(region.View, _ordered);
        }

        if (_settled > 0)
        {
            _context!.Environment.Schedule(_retry ??= new Alarm(OnBatchEnd), CloseRetry);
        }

        if (_ordered.Count < before)
        {
            _node!.ForgetSenders();
        }
    }

    /// <summary>Whether a view that is open here has a stream of this sender.</summary>
    public bool HasStreamOf(NodeKey sender)
    {
        foreach (var region in _ordered)
        {
            foreach (var stream in region.Streams)
            {
                if (stream.Sender == sender)
                {
                    return true;
                }
            }
        }

        return false;
    }

    public void Close()
    {
        ForgetLast();
        foreach (var region in _ordered)
        {
            region.Close();
        }

        _ways?.Close();
        _ordered.Clear();
        _regions.Clear();
        _context?.Environment.CancelIfMade(_expiry);
        _context?.Environment.CancelIfMade(_retry);
        _closed?.Close();
        _unknown?.Expire(TimeSpan.MaxValue);
    }

    private void Split(in ReceivedRun run, MulticastContext context, ref int packets, ref int bytes)
    {
        ulong cluster = context.Options.ClusterId;
        var lease = run.Lease;
        var all = lease.Span[..(run.Offset + run.Length)];
        int offset = run.Offset;
        int segment = 0;
        int ahead = 1;
        while (offset < all.Length)
        {
            var rest = all[offset..];
            var refused = PacketHeader.Validate(rest, cluster);
            if (refused == DropReason.None)
            {
                if (ahead-- == 0)
                {
                    ahead = _lookAhead.Into(_lastStream, rest, segment) - 1;
                }

                var header = new PacketHeader(rest);
                int length = header.Length;
                refused = Dispatch(header, lease, offset, arrived: null);
                segment = segment == 0 ? length : segment;
                offset += length;
                packets++;
                bytes += length;
                if (refused != DropReason.None)
                {
                    context.Counters.Drop(refused);
                }

                continue;
            }

            // A refused packet's length is not to be trusted; but the packets of a run are equally long, so the first good
            // one tells where the next begins. Before any good one, the rest of the buffer is lost, and repaired.
            context.Counters.Drop(refused);
            if (segment == 0)
            {
                break;
            }

            offset += segment;
        }
    }

    // Arrived: null for a packet that arrives now.
    private DropReason Dispatch(in PacketHeader header, Lease lease, int offset, TimeSpan? arrived)
    {
        if (header.Kind == PacketKind.Data && _lastStream is { } last && IsOf(last, header))
        {
            return OnData(_lastRegion!, last, header, lease, offset);
        }

        var sender = new NodeKey(header.Sender, header.Incarnation);
        bool isData = header.Kind is PacketKind.Data or PacketKind.Announce;
        switch (header.Kind)
        {
            case PacketKind.Ack:
                return OnAck(header, sender);
            case PacketKind.Pull:
                return PullAnswer.Give(_context!, _node!, _regions.GetValueOrDefault((header.Region, header.View)), header, sender);
            case PacketKind.Credit:
                return _node!.CreditLimits.OnPacket(sender, header.Sequence, header.Body);
            case PacketKind.Hearing:
                return _ways!.OnHearing(header, sender, _regions.GetValueOrDefault((header.Region, header.View)));
            case PacketKind.Echo or PacketKind.EchoReply:
                return _context!.Echoes.OnPacket(header);
        }

        if (!_regions.TryGetValue((header.Region, header.View), out var region))
        {
            if (_closed is not null && _closed.Contains(header.Region, header.View))
            {
                if (header.Kind is PacketKind.Token or PacketKind.Probe)
                {
                    // Who still has the view open need not wait for this node.
                    Answer(header, sender, PacketFlags.Final);
                }

                return DropReason.StaleView;
            }

            return isData && TryKeep(lease.Span.Slice(offset, header.Length), arrived) ? DropReason.None : DropReason.UnknownView;
        }

        if (region.IsGone(sender))
        {
            return OnStranger(region, header, sender, lease, offset);
        }

        switch (header.Kind)
        {
            case PacketKind.Data:
                _lastRegion = region;
                _lastStream = region.FindOrAdd(sender, ClassOf(header));
                return OnData(region, _lastStream, header, lease, offset);
            case PacketKind.Announce when ClassOf(header).IsReliable:
                region.OnAnnounce(sender, header.Sequence, (header.Flags & PacketFlags.Final) != 0);
                _ways!.Note(region, region.FindOrAdd(sender, StreamClass.Reliable));
                return DropReason.None;
            case PacketKind.Announce:
                return DropReason.Malformed;
            case PacketKind.Token:
                return region.Rings.OnToken(sender, header.Body);
            case PacketKind.Probe:
                Answer(header, sender, PacketFlags.None);
                if ((header.Flags & PacketFlags.AckWanted) != 0)
                {
                    region.Rings.OnTokenMissed(sender);
                }

                return DropReason.None;
            default:
                if ((header.Flags & PacketFlags.Final) != 0)
                {
                    region.OnMemberClosed(sender);
                }

                region.Rings.OnProbeReply(sender);
                return DropReason.None;
        }
    }

    private DropReason OnData(RegionReceiver region, InboundStream stream, in PacketHeader header, Lease lease, int offset)
    {
        _ways!.Note(region, stream);
        var refused = region.OnData(stream, header.Sequence, lease, offset, header.Length);
        if (refused == DropReason.None && (header.Flags & PacketFlags.AckWanted) != 0)
        {
            region.Rings.OnAckWanted();
        }

        if (refused == DropReason.None && !ReferenceEquals(_roused, region))
        {
            _roused = region;
            region.Rings.OnActivity();
        }

        return refused;
    }

    private static StreamClass ClassOf(in PacketHeader header) =>
        (header.Flags & PacketFlags.BestEffort) == 0 ? StreamClass.Reliable : StreamClass.BestEffort;

    private static bool IsOf(InboundStream stream, in PacketHeader header) =>
        stream.View.RegionId == header.Region
        && stream.View.Number == header.View
        && stream.Sender.Id == header.Sender
        && stream.Sender.Incarnation == header.Incarnation
        && stream.Class == ClassOf(header);

    private void ForgetLast()
    {
        _lastRegion = null;
        _lastStream = null;
    }

    private bool TryKeep(ReadOnlySpan<byte> packet, TimeSpan? arrived)
    {
        var environment = _context!.Environment;
        var now = environment.Now;
        _unknown ??= new UnknownViewBuffer(options.UnknownViewBytes, options.UnknownViewAge);
        if (!_unknown.TryKeep(environment.Buffers, now, arrived ?? now, packet))
        {
            return false;
        }

        _expiry ??= new Alarm(ExpireUnknown);
        if (!_expiry.IsPending)
        {
            environment.Schedule(_expiry, _unknown.ExpiresAt!.Value - now);
        }

        return true;
    }

    private void ExpireUnknown()
    {
        var environment = _context!.Environment;
        _unknown!.Expire(environment.Now);
        if (_unknown.ExpiresAt is { } next)
        {
            environment.Schedule(_expiry!, next - environment.Now);
        }
    }

    // A node that is not in the directory, or was away since this view: gone, or not yet known. A packet of a stream that is
    // already here, forwarded by a survivor on behalf of a sender that is gone, still counts: the survivors agree on what they
    // deliver of it.
    private DropReason OnStranger(RegionReceiver region, in PacketHeader header, NodeKey sender, Lease lease, int offset)
    {
        if (header.Kind == PacketKind.Data && region.Find(sender) is { IsSenderGone: true } stream
            && stream.Lacks(header.Sequence))
        {
            return OnData(region, stream, header, lease, offset);
        }

        return DropReason.UnknownSender;
    }

    private DropReason OnAck(in PacketHeader header, NodeKey from)
    {
        if (_node!.FindSender(header.Region, header.View, StreamClass.Reliable) is not { } stream)
        {
            return DropReason.StaleView;
        }

        // One that was away and is back tells of what it holds alone: the others it has given up.
        if (!stream.IsLive(from) || !_context!.Directory.Contains(from))
        {
            return DropReason.NotMember;
        }

        if (!AggregateAck.TryRead(header.Body, out var ack))
        {
            return DropReason.Malformed;
        }

        if (ack.Origin != _context.Self)
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

        _context.Counters.AcksReceived++;
        for (int i = 0; options.FeedbackRanges > 1 && i < AggregateAck.HeldRanges(header.Body); i++)
        {
            var (first, last) = AggregateAck.HeldRange(header.Body, i);
            stream.LetGo(first, last);
        }

        stream.OnAck(ack.Stable, ack.Consumed, ack.Read, ack.KernelDrops, ack.ReceiveBufferBytes);
        return DropReason.None;
    }

    private void Answer(in PacketHeader probe, NodeKey from, PacketFlags flags)
    {
        if (_context!.Directory.Find(from) is { } address)
        {
            int bytes = probe.Kind == PacketKind.Probe ? probe.Length : PacketHeader.Bytes;
            var packet = _context.FullPacket.AsSpan(0, Math.Min(bytes, _context.FullPacket.Length));
            packet.Clear();
            var template = new PacketTemplate(
                _context.Options.ClusterId, _context.Self.Id, _context.Self.Incarnation, probe.Region, probe.View);
            template.Write(packet, PacketKind.ProbeReply, flags, 0, 0, 0);
            PacketTemplate.Seal(packet);
            _context.SendControl(packet, address);
        }
    }
}
