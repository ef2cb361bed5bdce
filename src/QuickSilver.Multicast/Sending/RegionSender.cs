using QuickSilver.Core.Flow;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Dissemination;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Schemes;
using QuickSilver.Multicast.Sending.Acknowledgement;
using QuickSilver.Multicast.Sending.Packing;
using QuickSilver.Multicast.Sending.Repairs;
using QuickSilver.Multicast.Sending.Shared;
using QuickSilver.Multicast.Views;

namespace QuickSilver.Multicast.Sending;

// One node's outbound stream into one view of a region. It numbers packets across topics, keeps them until all members hold them, sends
// them as the window allows, and announces its last number while it is quiet and not all packets are acknowledged.
//
// It is a feed of the node's sockets and the sink of its topics. A turn sends one run. Topics fill the run that is open. When it is full,
// they wait in line, and are asked in turn when the next run can leave. So no more than one run is packed and not sent, with a message that
// is larger than a run as the exception.
//
// Invariants: _window.Sent <= _packets.Last; a reliable stream keeps the packets (Acknowledged, Last]. Once the stream is superseded,
// nothing is appended, no topic waits here, and it is settled when Acknowledged == Last.
internal sealed partial class RegionSender : ITransmittedStream, IFlushedFeed, IAcknowledgedStream
{
    private readonly SendingParts _parts;
    // Null if the repair scheme needs no action of the sender's own.
    private readonly ISentRepair? _repair;
    private readonly RetentionBuffer _packets;
    private readonly SendWindow _window;
    private readonly RunTransmitter _transmitter;
    private readonly Announcements _announcements;
    // Not readonly: these are structs that have state of their own.
    private StreamClaims _claims = new();
    private StreamPaths _paths;
    private UnacknowledgedPackets _unacknowledged;
    private AckState _acks;
    private readonly TopicBeginnings _beginnings = new();
    // The topics that wait for their turn. Null until a run was full.
    private TopicLine? _line;
    // Whether a flush could not send all packets, so that the next acknowledgement must continue it.
    private bool _isFlushDue;
    private TimeSpan _supersededSince;

    public RegionSender(SendingParts parts, RegionView view, StreamClass streamClass, IDisseminator path)
    {
        var context = parts.Node;
        _parts = parts;
        View = view;
        Live = new LiveMembers(view.Members);
        Class = streamClass;
        _paths = new StreamPaths(parts.Paths.Sizes, Live);
        _packets = new RetentionBuffer(parts.Retention);
        _unacknowledged = new UnacknowledgedPackets(_packets);
        var template = context.Template(view).Of(streamClass.Value);
        Packer = new Packer(context.Environment.Buffers, template, parts.Paths.Sizes.Of(Live), _packets, context.Options.IsSealed);
        _window = new SendWindow(context.Options.PacketBytes, IsReliable);
        _transmitter = new RunTransmitter(parts, this, path, _packets, _window, template);
        _announcements = new Announcements(parts, this, path, template);
        Retransmissions = new Retransmissions(parts, path, _packets, _window, _announcements, template);
        Alone = [this];
        Signs = new StreamSigns(context);
        _repair = streamClass.IsReliable ? parts.Repair.ForSender(parts.Schemes, this) : null;
        context.AbsentFrom(view).ForEach(member => Live.Lose(member));
    }

    /// <summary>A list of this stream alone: the routes that all topics of only this region share.</summary>
    public RegionSender[] Alone { get; }

    public RegionView View { get; }
    public StreamClass Class { get; }
    public bool IsReliable => Class.IsReliable;

    public long SupersededAt { get; private set; }

    public bool IsFlushNoted { get; set; }
    bool IFeed.IsInLine { get; set; }

    /// <summary>The topics that wait until the next run can be packed.</summary>
    public IReadOnlyCollection<IFeed> Waiting => _line?.Feeds ?? [];

    /// <summary>Whether the run that is packed is full, so that topics wait for their turn.</summary>
    public bool IsFull => _packets.Last - _window.Sent >= _transmitter.PackedPackets;

    public long RoutedAt { get; set; }

    public long Pending => Last - Acknowledged - _packets.ReleasedEarly;

    /// <summary>All live members hold the packets up to and including this one.</summary>
    public long Acknowledged => _acks.Through;

    public long Last => _packets.Last + (Packer.HasOpenPacket ? 1 : 0);

    public bool IsSettled => Acknowledged >= Last;

    public (long Sent, long Consumed) Through => (_window.Sent, _window.Consumed);

    public bool AwaitsNews => IsReliable && (Acknowledged < _window.Sent || _window.Consumed < _window.Sent);

    /// <summary>Whether nothing more will be sent into this view.</summary>
    public bool HasSentAll => SupersededAt != 0 && _window.Sent == _packets.Last;

    public TimeSpan Silence => _acks.SilenceAt(Context.Environment.Now);

    public LiveMembers Live { get; }

    public StreamSigns Signs { get; }

    public Retransmissions Retransmissions { get; }

    /// <summary>The stream's part in runs that are sent once for several regions.</summary>
    public SharedPart Shared => field ??= new SharedPart(this, Context, _packets, Packer, _window, _transmitter);

    public int WindowPackets => _window.Packets;

    public bool CanTake(int payloadBytes) => !IsFull && (_parts.Retention.Allows(payloadBytes) || IsSettled);

    /// <summary>About how many bytes of messages fit into the run that is packed; 0 or less if it is full.</summary>
    public int RoomBytes => (int)(_transmitter.PackedPackets - (_packets.Last - _window.Sent)) * Context.Options.PacketBytes;

    /// <summary>The topic has a message, and waits for its turn.</summary>
    public void Await(ITopicFeed topic)
    {
        (_line ??= new TopicLine()).Add(topic);
        RegisterIfReady();
    }

    /// <summary>What a message takes of packet memory, and how much exists.</summary>
    public Packer Packer { get; }

    /// <summary>Returns the block of a stream that has nothing in flight, if others need it or much memory is in use.</summary>
    public void RestIfSettled(bool needsBlock)
    {
        if (IsSettled && _window.Sent == Last)
        {
            Packer.Rest(needsBlock);
        }
    }

    public bool HasStarted(ulong topicId) => _beginnings.HasStarted(topicId);

    /// <summary>Whether all members know where the topic begins in this view. True if nothing of the topic was sent into it.</summary>
    public bool HasBegun(ulong topicId) => _beginnings.IsKnown(topicId, Acknowledged);

    /// <summary>Packs one message. <paramref name="starts"/> is given with a topic's first message in this view only.</summary>
    public void Append(
        ulong topicId, long sequence, StartTable? starts, ReadOnlySpan<byte> extensions, ReadOnlySpan<byte> payload, StabilityClaim? claim)
    {
        _isFlushDue = false;
        long end = Packer.Append(topicId, sequence, starts, extensions, payload);
        if (starts is not null)
        {
            _beginnings.AddStart(topicId, end);
        }

        if (claim is not null && IsReliable)
        {
            ClaimPacked(claim, wantsAck: true);
        }
        else
        {
            claim?.Release();
        }

        OnPacked(end);
    }

    /// <summary>Releases the claim when all that is packed is held or, by a best-effort stream, was sent.</summary>
    public void ClaimPacked(StabilityClaim claim, bool wantsAck)
    {
        _claims.Add(Last, claim);
        if (wantsAck && IsReliable && Packer.HasOpenPacket)
        {
            Packer.WantAck();
        }
    }

    /// <summary>
    /// Packs the mark of a best-effort topic. False: there is no room. The first mark in a view shows where the topic begins there, and is
    /// packed even if the run is full.
    /// </summary>
    public bool TryMark(ulong topicId, StartTable starts, ReadOnlySpan<byte> mark)
    {
        int bytes = mark.Length + starts.EncodedBytes;
        bool isFirst = !_beginnings.IsMarked(topicId);
        if ((!isFirst && !CanTake(bytes)) || (Packer.BlocksFor(bytes) > 0 && Packer.FreeBlocks <= Packer.BlocksFor(bytes)))
        {
            return false;
        }

        _isFlushDue = false;
        long end = Packer.Append(MessageHeader.MarkTopic, 1, starts, [], mark);
        if (isFirst)
        {
            _beginnings.AddMark(topicId, end);
        }

        OnPacked(end);
        return true;
    }

    /// <summary>
    /// Whether the packet asks for an acknowledgement. They are requested often enough that the window does not close while there are no
    /// losses, and not more often, because a round of the ring costs each member the processing of a packet.
    /// </summary>
    public bool WantsAck(long end) => IsReliable && _acks.TryWant(end, _window.Packets / 4);

    private void OnPacked(long end)
    {
        if (WantsAck(end))
        {
            Packer.WantAck();
        }

        if (FullThrough > _window.Sent)
        {
            RegisterIfReady();
        }
    }

    // The packets that a run may contain although more are to come: a whole run, or those in a block that gets no more packets.
    private long FullThrough => _packets.Last - _window.Sent >= _transmitter.RunPackets ? _packets.Last : Packer.FullThrough;

    private NodeContext Context => _parts.Node;

    private bool HasMore => FullThrough > _window.Sent || _line is { Count: > 0 };

    // Whether a turn would send something. If only the window keeps it from that, the stream is notified when it opens.
    private bool AwaitReady()
    {
        bool hasMore = HasMore;
        bool isReady = hasMore && _transmitter.AwaitOpen();
        if (hasMore || !_isFlushDue)
        {
            Signs.Note(isReady ? StreamLimit.Turn : hasMore ? _transmitter.Limit : StreamLimit.Idle);
        }

        return isReady;
    }

    private void RegisterIfReady()
    {
        if (AwaitReady())
        {
            _parts.Sockets.Register(this);
        }
    }

    /// <summary>Sends one run: the one that is packed or, if none is full, the one that the waiting topics fill now.</summary>
    bool IFeed.Pull(ref PullBudget budget)
    {
        if (!_transmitter.AwaitOpen())
        {
            return false;
        }

        FollowSize();
        if (FullThrough <= _window.Sent)
        {
            Fill();
        }

        long before = _window.Sent;
        SendRun(FullThrough);
        budget.Charge((int)(_window.Sent - before), 0);
        return AwaitReady();
    }

    // A message is packed in packets of the size for which room was found, so the size changes before room is looked for.
    private void FollowSize()
    {
        if (_paths.TryFollow(out int bytes) && bytes != Packer.PacketBytes && SupersededAt == 0)
        {
            Packer.PacketBytes = bytes;
        }
    }

    private void Fill()
    {
        while (_line is { Count: > 0 } line && !IsFull)
        {
            line.GiveTurn();
        }
    }

    /// <summary>The packed messages are to be sent at the end of the turn, or of those that follow.</summary>
    public void FlushSoon()
    {
        if (!IsFlushNoted)
        {
            _parts.Sockets.FlushSoon(this);
        }
    }

    /// <summary>Sends a run of what is packed, including the open packet. Called when no more messages wait.</summary>
    public void Flush()
    {
        FollowSize();
        if (Packer.HasOpenPacket && (SupersededAt != 0 || _window.RoomAt(Context.Environment.Now) > _packets.Last - _window.Sent))
        {
            Packer.Flush();
        }

        SendRun(_packets.Last);
        _isFlushDue = _window.Sent < Last;
        bool isOpen = _isFlushDue && _transmitter.AwaitOpen();
        if (isOpen)
        {
            FlushSoon();
        }

        Signs.Note(isOpen ? StreamLimit.Turn : _isFlushDue ? _transmitter.Limit : HasMore ? Signs.Limit : StreamLimit.Idle);
        RestIfSettled(needsBlock: false);
    }

    public void Supersede(long configuration)
    {
        if (SupersededAt != 0)
        {
            return;
        }

        SupersededAt = configuration;
        _supersededSince = Context.Environment.Now;
        Packer.Flush();
        for (long before = -1; before < _window.Sent;)
        {
            before = _window.Sent;
            SendRun(_packets.Last);
        }

        if (IsReliable && !IsSettled)
        {
            _announcements.StartNow();
        }

        _line?.Release();
    }

    /// <summary>Whether a packet with this number was sent. No member can hold a later one.</summary>
    public bool HasSent(long number) => number <= _window.Sent;

    public void OnAck(long stable, long consumed, long read, long kernelDrops, long receiveBufferBytes)
    {
        var now = Context.Environment.Now;
        _announcements.OnAnswered();
        stable = Math.Min(stable, _window.Sent);
        bool isMore = _acks.OnAck(stable, now);
        _window.OnAck(now, consumed, read, hasBacklog: HasMore, kernelDrops, receiveBufferBytes);
        if (isMore)
        {
            _announcements.OnAcknowledged(stable, now);
            Signs.OnAcknowledged(stable, now);
            _unacknowledged.NoteCut(stable);
            _packets.ReleaseThrough(stable);
            _claims.ReleaseThrough(Acknowledged);
        }

        if (IsSettled && !AwaitsNews)
        {
            _announcements.Rest();
        }

        if (_isFlushDue)
        {
            FlushSoon();
        }

        // A flush will send what was appended since. Until then, only whole runs are sent.
        RegisterIfReady();
        RestIfSettled(needsBlock: false);
        Context.OnSenderProgress();
    }

    /// <summary>Adds the messages that not all members are known to hold. For the end of the node: all that is packed is closed.</summary>
    public void ReadUnacknowledged(UnacknowledgedMessages messages, string waitsFor)
    {
        Packer.Flush();
        _unacknowledged.Read(messages, Acknowledged, waitsFor);
    }

    public void LetGo(long first, long last) => _packets.Release(first, Math.Min(last, _window.Sent));

    public bool IsLive(NodeKey node) => Live.Contains(node);

    /// <summary>
    /// Called when a node was removed. False if no member is left. A node that returns to the cluster does not return to this view.
    /// </summary>
    public bool OnMemberGone(NodeKey node)
    {
        Live.Lose(node);
        return Live.Count > 0;
    }

    /// <summary>Called when no live member needs the packets: all count as held.</summary>
    public void Abandon()
    {
        Packer.Flush();
        Signs.GiveUp();
        _window.SkipTo(_packets.Last);
        OnAck(_packets.Last, _packets.Last, _packets.Last, 0, 0);
    }

    /// <summary>
    /// Called while packets are sent, or are not known to be held: the paths are checked from time to time, because they may have become
    /// too narrow for these packets.
    /// </summary>
    public void CheckPaths() => _paths.Check(Context.Environment.Now);

    public void OnPause(TimeSpan length) => _acks.OnPause(length, Context.Environment.Now);

    public void AnnounceTo(NodeKey member)
    {
        if (IsReliable && AwaitsNews && Live.Contains(member))
        {
            _announcements.SendTo(member);
        }
    }

    public void Close(string reason)
    {
        _line?.Release();
        Signs.Note(StreamLimit.Idle);
        _announcements.Rest();
        _transmitter.Close();
        _repair?.Close();
        Retransmissions.Close();
        _packets.ReleaseThrough(_packets.Last);
        Packer.Dispose();
        _claims.Abandon(reason);
    }

    void ITransmittedStream.OnSent(int packets)
    {
        var now = Context.Environment.Now;
        long before = _window.Sent - packets;
        _acks.OnSent(before, now);
        _announcements.OnSent(_window.Sent, now);
        if (IsReliable)
        {
            Signs.OnSent(_window.Sent, now);
        }
        else
        {
            _acks.SkipTo(_window.Sent);
            _packets.ReleaseThrough(_window.Sent);
            _claims.ReleaseThrough(Acknowledged);
            _announcements.CheckHearing();
        }

        CheckPaths();
        _repair?.OnSent(before + 1, _window.Sent);
        if (AwaitsNews)
        {
            _announcements.Start();
        }
    }

    // Perhaps the packets are too large for the interface by now.
    void ITransmittedStream.OnRefused() => _paths.OnRefused(Context.Environment.Now);

    void ITransmittedStream.OnMaySend()
    {
        FlushSoon();
        RegisterIfReady();
        if (!IsReliable && SupersededAt != 0 && Context.Environment.Now - _supersededSince >= Context.Options.ClosingPause)
        {
            // The system has had no room for the packets for this long: the rest counts as lost.
            Abandon();
        }

        Context.OnSenderProgress();
    }

    private void SendRun(long through)
    {
        if (_window.Sent < through && _transmitter.TrySendRun(through) && AwaitsNews && !_announcements.IsDue)
        {
            _announcements.Start();
        }
    }
}
