using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Dissemination;
using QuickSilver.Multicast.Repair;
using QuickSilver.Multicast.Views;

namespace QuickSilver.Multicast.Sending;

// One node's outbound stream into one view of a region: numbers packets across topics, keeps them until all members hold
// them, has them sent as the window allows, and announces its last number while it is quiet and not all acknowledged.
//
// Invariants: _window.Sent <= _packets.Last; packets (Acknowledged, Last] are kept (reliable streams). Once superseded nothing is
// appended, and the stream is settled when Acknowledged == Last.
internal sealed class RegionSender : ITransmittedStream
{
    private readonly MulticastContext _context;
    // Null where the scheme has the sender do nothing by itself.
    private readonly ISentRepair? _repair;
    private readonly RetentionBuffer _packets;
    private readonly Packer _packer;
    private readonly SendWindow _window;
    private readonly RunTransmitter _transmitter;
    private readonly Announcements _announcements;
    private readonly Retransmissions _retransmissions;
    private readonly StreamClaims _claims = new();
    // By topic, the packet in which its first message in this view ends: it carries the topic's start table.
    private readonly Dictionary<ulong, long> _started = [];
    private readonly LiveMembers _live;
    private long _lastAckWanted;
    // A flush could not send all: the next acknowledgement does.
    private bool _isFlushDue;
    // By best-effort topic, the packet that first told where it begins in this view. Null before the first.
    private Dictionary<ulong, long>? _marked;
    private TimeSpan _supersededSince;
    // When an acknowledgement last came, or the first packet went that one is due for.
    private TimeSpan _ackedAt;

    public RegionSender(MulticastContext context, RegionView view, StreamClass streamClass, IDisseminator path)
    {
        _context = context;
        View = view;
        _live = new LiveMembers(view.Members);
        Class = streamClass;
        _packets = new RetentionBuffer(context.Retention);
        var template = context.Template(view).Of(streamClass.Value);
        _packer = new Packer(context.Environment.Buffers, template, context.Options.PacketBytes, _packets);
        _window = new SendWindow(context.Options.PacketBytes, IsReliable);
        _transmitter = new RunTransmitter(context, this, path, _packets, _window);
        _announcements = new Announcements(context, this, path, template);
        _retransmissions = new Retransmissions(context, path, _packets, _window, _announcements);
        Alone = [this];
        _repair = streamClass.IsReliable ? context.Options.Repair.ForSender(context, this) : null;
        foreach (var member in context.AbsentFrom(view))
        {
            OnMemberGone(member);
        }
    }

    /// <summary>What the topics that go to this region only have in common: their routes.</summary>
    public RegionSender[] Alone { get; }

    public RegionView View { get; }

    public StreamClass Class { get; }

    public bool IsReliable => Class.IsReliable;

    /// <summary>The configuration that replaced this view; 0 while it is current.</summary>
    public long SupersededAt { get; private set; }

    /// <summary>The node's note that it will flush this stream.</summary>
    public bool IsFlushNoted { get; set; }

    /// <summary>The last configuration in which a topic here used the stream.</summary>
    public long RoutedAt { get; set; }

    /// <summary>Sent, and not known to be held by all.</summary>
    public long Pending => Last - Acknowledged - _packets.ReleasedEarly;

    /// <summary>All live members hold the packets up to and with this one.</summary>
    public long Acknowledged { get; private set; }

    public long Last => _packets.Last + (_packer.HasOpenPacket ? 1 : 0);

    /// <summary>Nothing is left to do: all is held by all, or of a best-effort stream, all was sent.</summary>
    public bool IsSettled => Acknowledged >= Last;

    /// <summary>Something that was packed is not known to be held, or not to be taken, by all.</summary>
    public bool IsWaiting => IsReliable && (Acknowledged < Last || _window.Consumed < _window.Sent);

    /// <summary>What moves while the stream does.</summary>
    public long Progress => Acknowledged + _window.Consumed + _window.Sent;

    /// <summary>The last packet that was sent, and the last that all members' readers took.</summary>
    public (long Sent, long Consumed) Through => (_window.Sent, _window.Consumed);

    /// <summary>
    /// Something that was sent is not known to be held, or not to be taken, by all. Of a best-effort stream nobody says so, and its topics'
    /// marks tell what was sent last.
    /// </summary>
    public bool AwaitsNews => IsReliable && (Acknowledged < _window.Sent || _window.Consumed < _window.Sent);

    /// <summary>Nothing more will be sent into this view.</summary>
    public bool HasSentAll => SupersededAt != 0 && _window.Sent == _packets.Last;

    /// <summary>How long no acknowledgement came that is due.</summary>
    public TimeSpan Silence => _context.Environment.Now - _ackedAt;

    public LiveMembers Live => _live;

    /// <summary>Packets on the way at most; for diagnostics.</summary>
    public int WindowPackets => _window.Packets;

    public bool CanTake(int payloadBytes)
    {
        long backlog = (_packets.Last - _window.Sent) * _context.Options.PacketBytes;
        return backlog < _context.Options.BacklogBytes
            && (_context.Retention.Allows(payloadBytes) || IsSettled);
    }

    /// <summary>The most that a message to so many regions may have, or packet memory has never room for it; below 0: for none.</summary>
    public long MostPayload(int regions) => _packer.MostPayload(regions);

    /// <summary>Blocks of packet memory that senders may still take.</summary>
    public long FreeBlocks => _packer.FreeBlocks;

    /// <summary>How many of them a message may take here at most, whatever was packed before.</summary>
    public int MostBlocks(int payloadBytes) => _packer.MostBlocks(payloadBytes);

    /// <summary>How many it may take now.</summary>
    public int BlocksFor(int payloadBytes) => _packer.BlocksFor(payloadBytes);

    /// <summary>A stream of which nothing is on the way gives its block back, if others need it or much is in use.</summary>
    public void RestIfSettled(bool needsBlock)
    {
        if (IsSettled && _window.Sent == Last)
        {
            _packer.Rest(needsBlock);
        }
    }

    /// <summary>Whether the topic's first message in this view has gone: it carries the start table.</summary>
    public bool HasStarted(ulong topicId) => _started.ContainsKey(topicId);

    /// <summary>Whether all members know where the topic begins for them, if anything of it was sent into this view.</summary>
    public bool HasBegun(ulong topicId) => (!_started.TryGetValue(topicId, out long end) || Acknowledged >= end)
        && (_marked is null || !_marked.TryGetValue(topicId, out end) || Acknowledged >= end);

    /// <summary>Packs one message; with a topic's first in this view come its starts, with all others none.</summary>
    public void Append(
        ulong topicId, long sequence, StartTable? starts, ReadOnlySpan<byte> extensions, ReadOnlySpan<byte> payload, StabilityClaim? claim)
    {
        _isFlushDue = false;
        long end = _packer.Append(topicId, sequence, starts, extensions, payload);
        if (starts is not null)
        {
            _started.Add(topicId, end);
        }

        if (claim is not null)
        {
            if (IsReliable)
            {
                _claims.Add(end, claim);
                _packer.WantAck();
            }
            else
            {
                claim.Release();
            }
        }

        SendFull(end);
    }

    /// <summary>
    /// Packs the mark of a best-effort topic. False: there is no room. The first one in a view says where the topic begins there, and
    /// does not wait for a backlog.
    /// </summary>
    public bool TryMark(ulong topicId, StartTable starts, ReadOnlySpan<byte> mark)
    {
        int bytes = mark.Length + starts.EncodedBytes;
        bool isFirst = _marked is null || !_marked.ContainsKey(topicId);
        if ((!isFirst && !CanTake(bytes)) || (BlocksFor(bytes) > 0 && FreeBlocks <= BlocksFor(bytes)))
        {
            return false;
        }

        _isFlushDue = false;
        long end = _packer.Append(MessageHeader.MarkTopic, 1, starts, [], mark);
        if (isFirst)
        {
            (_marked ??= []).Add(topicId, end);
        }

        SendFull(end);
        return true;
    }

    // Whole runs of what is packed.
    private void SendFull(long end)
    {
        // Often enough that the window does not close while all is well, and no more often: a round of the ring costs each member
        // a packet's work.
        if (end - _lastAckWanted >= _window.Packets / 4 && IsReliable)
        {
            _lastAckWanted = end;
            _packer.WantAck();
        }

        if (_packets.Last - _window.Sent >= _transmitter.RunPackets)
        {
            SendWaiting(_packets.Last);
        }
        else if (_packer.FullThrough > _window.Sent)
        {
            // No further: what follows lies in the next block, and goes with it in one run.
            SendWaiting(_packer.FullThrough);
        }
    }

    /// <summary>Sends what is packed, the open packet too: called when no more messages wait.</summary>
    public void Flush()
    {
        if (_packer.HasOpenPacket && (_window.Room > _packets.Last - _window.Sent || SupersededAt != 0))
        {
            _packer.Flush();
        }

        SendWaiting(_packets.Last);
        _isFlushDue = _window.Sent < Last;
        RestIfSettled(needsBlock: false);
    }

    public void Supersede(long configuration)
    {
        if (SupersededAt != 0)
        {
            return;
        }

        SupersededAt = configuration;
        _supersededSince = _context.Environment.Now;
        _packer.Flush();
        SendWaiting(_packets.Last);
        if (IsReliable && !IsSettled)
        {
            _announcements.StartNow();
        }
    }

    /// <summary>Whether an acknowledgement that leaves these members out counts all that this node takes for live.</summary>
    public bool CountsAll(ulong gone) => gone == _live.Gone;

    /// <summary>Whether so much was sent: more is never held.</summary>
    public bool HasSent(long number) => number <= _window.Sent;

    public void OnAck(long stable, long consumed, long read, long kernelDrops, long receiveBufferBytes)
    {
        var now = _context.Environment.Now;
        _ackedAt = now;
        _announcements.OnAnswered();
        stable = Math.Min(stable, _window.Sent);
        _window.OnAck(now, consumed, read, hasBacklog: _packets.Last > _window.Sent, kernelDrops, receiveBufferBytes);
        if (stable > Acknowledged)
        {
            Acknowledged = stable;
            _announcements.OnAcknowledged(stable, now);
            _packets.ReleaseThrough(stable);
            _claims.ReleaseThrough(Acknowledged);
        }

        if (IsSettled && !AwaitsNews)
        {
            _announcements.Rest();
        }

        if (_isFlushDue)
        {
            Flush();
        }
        else
        {
            // A flush follows what was appended since: until then only whole runs go.
            SendWaiting(Math.Max(_window.Sent, _packer.FullThrough));
        }

        RestIfSettled(needsBlock: false);
        _context.OnSenderProgress();
    }

    /// <summary>All hold these, though they lack something before: nobody will ask for them.</summary>
    public void LetGo(long first, long last) => _packets.Release(first, Math.Min(last, _window.Sent));

    /// <summary>False when no member is left. One that comes back to the cluster does not come back to this view.</summary>
    public bool OnMemberGone(NodeKey node)
    {
        _live.Lose(node);
        return _live.Count > 0;
    }

    /// <summary>Whether it is a member of the view that was not removed since.</summary>
    public bool IsLive(NodeKey node) => _live.Contains(node);

    /// <summary>No live member is left to want anything: all counts as held.</summary>
    public void Abandon()
    {
        _packer.Flush();
        _window.SkipTo(_packets.Last);
        OnAck(_packets.Last, _packets.Last, _packets.Last, 0, 0);
    }

    /// <summary>Sends again what a member asked for.</summary>
    public void Repair(long first, long last, ref AnswerLimit limit, in RepairAsker asker) =>
        _retransmissions.Answer(first, last, ref limit, asker);

    /// <summary>Tells of members that have not acknowledged for long.</summary>
    public void SuspectIfSilent()
    {
        if (IsReliable && Acknowledged < _window.Sent)
        {
            _context.SuspectIfSilent(_live, View, Silence);
        }
    }

    /// <summary>To one member that could not hear what was sent until now.</summary>
    public void AnnounceTo(NodeKey member)
    {
        if (IsReliable && AwaitsNews && IsLive(member) && _context.Directory.Find(member) is { } address)
        {
            _announcements.SendTo(address);
        }
    }

    public void Close(string reason)
    {
        _announcements.Rest();
        _transmitter.Close();
        _repair?.Close();
        _packets.ReleaseThrough(_packets.Last);
        _packer.Dispose();
        _claims.Abandon(reason);
    }

    void ITransmittedStream.OnSent(int packets)
    {
        var now = _context.Environment.Now;
        long before = _window.Sent - packets;
        _ackedAt = Acknowledged == before ? now : _ackedAt;
        _announcements.OnSent(_window.Sent, now);
        if (!IsReliable)
        {
            Acknowledged = _window.Sent;
            _packets.ReleaseThrough(_window.Sent);
            _announcements.CheckHearing();
        }

        _repair?.OnSent(before + 1, _window.Sent);
    }

    void ITransmittedStream.OnMaySend()
    {
        Flush();
        if (!IsReliable && SupersededAt != 0 && _context.Environment.Now - _supersededSince >= _context.Options.ClosingPause)
        {
            // The system has had no room for it for so long: what is left counts as lost.
            Abandon();
        }

        _context.OnSenderProgress();
    }

    private void SendWaiting(long through)
    {
        long before = _window.Sent;
        if (before == through || !_transmitter.TrySend(through))
        {
            return;
        }

        if (AwaitsNews && (_window.Sent > before || !_announcements.IsDue))
        {
            _announcements.Start();
        }
    }
}
