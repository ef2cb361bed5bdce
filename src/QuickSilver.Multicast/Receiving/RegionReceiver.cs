using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Dissemination;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Pacing;
using QuickSilver.Multicast.Receiving.Healing;
using QuickSilver.Multicast.Receiving.Ports;
using QuickSilver.Multicast.Receiving.Windows;
using QuickSilver.Multicast.Schemes;
using QuickSilver.Multicast.Views;

namespace QuickSilver.Multicast.Receiving;

// One view of a region at one of its members: the inbound streams of its senders, and the stability tracker that finds out up to where all
// members hold them. A superseded view stays open until the service reports that it is settled and this member has consumed all its
// packets.
internal sealed class RegionReceiver : IGapObserver, ITrackedView, IHealedView
{
    private readonly ReceivingParts _parts;
    private readonly IStreamConsumer _consumer;
    private readonly StreamTable _table;
    private readonly Dictionary<InboundStream, IRepairStrategy> _repairs = [];
    private readonly ViewClosing _closing;
    // Not readonly: it is a struct that has state of its own.
    private SenderRoom _room;
    // Null until a stream has ended.
    private EndedStreams? _ended;
    private bool _isPartitionLost;
    private long _memoryDrops;

    public RegionReceiver(ReceivingParts parts, RegionView view, RegionPort? port, IStreamConsumer consumer)
    {
        var context = parts.Node;
        _parts = parts;
        _consumer = consumer;
        _table = new StreamTable(context);
        View = view;
        Port = port;
        port?.AddUser();
        Live = new LiveMembers(view.Members);
        foreach (var member in context.AbsentFrom(view))
        {
            Live.Lose(member);
        }

        Keepers = new PacketKeepers(view.Members.Length, view.Repair.Replicas);
        SelfRank = Live.RankOf(context.Self);
        OwnPartition = Keepers.PartitionOf(SelfRank);
        Template = context.Template(view);
        PullClock = new PullClock(context.Options);
        Stability = parts.Stability.ForRegion(parts.Schemes, this);
        HasGroup = view.Group is not null && parts.Dissemination.MayUseGroup(view);
        Healing = parts.Repair.ForRegion(parts.Schemes, this);
        Forwarder = parts.Dissemination.ToForward(view);
        _closing = new ViewClosing(context, view.Configuration, Stability, Live);
        OpenedAt = context.Environment.Now;
    }

    public RegionView View { get; }
    // Null if members do not forward packets.
    public IForwarder? Forwarder { get; }
    // Null if the repair scheme does nothing for whole views.
    public IRegionRepair? Healing { get; }
    // Whether senders use the group of the view, so that a packet that comes by unicast alone was not heard there.
    public bool HasGroup { get; }
    public RegionPort? Port { get; }
    // Whether this member receives nothing that is sent to the view's group, and depends on what others send to it alone.
    public bool IsDeaf => Port is { IsDeaf: true };
    public PacketKeepers Keepers { get; }
    // The pull times of the members that were asked for another sender's packets.
    public PullClock PullClock { get; }
    public IStabilityTracker Stability { get; }
    public LiveMembers Live { get; }
    // The rank of this member.
    public int SelfRank { get; }
    // The template of the packets that this member sends to other members of the view.
    public PacketTemplate Template { get; }
    // The partition whose packets this member keeps for others.
    public int OwnPartition { get; }
    public long SupersededAt => _closing.SupersededAt;

    /// <summary>When this member opened the view.</summary>
    public TimeSpan OpenedAt { get; }

    /// <summary>The number of departed nodes that are remembered; for diagnostics.</summary>
    public int Departed => _closing.Departed;

    /// <summary>The number of streams that were given up and whose ends are remembered; for diagnostics.</summary>
    public int Ended => _ended?.Count ?? 0;

    /// <summary>When the view was superseded; meaningless before.</summary>
    public TimeSpan SupersededSince => _closing.SupersededSince;

    /// <summary>The datagrams of the view that were dropped because there was no room in a socket or in packet memory.</summary>
    public long Drops => (Port?.KernelDrops ?? 0) + _parts.UnicastDrops + (_parts.TopicPorts?.Drops ?? 0) + _memoryDrops;

    /// <summary>
    /// The bytes of one sender that may wait here: in the socket's receive buffer, or in packet memory, both of which all current senders
    /// share. A sender's window is half of this value, and while it waits for repairs a sender may send RepairWindows windows.
    /// </summary>
    public long RoomBytes => _room.Of(_parts, Port, Streams);

    /// <summary>Whether this node can receive packets that are sent to the view's group.</summary>
    public bool MayHear => Port is { IsDeaf: false };
    // In the order of their first packets.
    public List<InboundStream> Streams => _table.Ordered;

    /// <summary>Processes a data packet. The caller notifies the stability tracker once for all packets that arrive together.</summary>
    public DropReason OnData(InboundStream stream, long sequence, Core.Buffers.Lease lease, int offset, int length)
    {
        long highest = stream.Highest;
        var refused = stream.Accept(sequence, lease, offset, length);
        if (refused != DropReason.None)
        {
            OnRefused(stream, refused);
            return refused;
        }

        if (stream.Missing.Count > 0 && sequence > highest + 1)
        {
            Context.Counters.GapsSeen++;
        }

        if (Healing is { } healing)
        {
            new HealedPackets(_parts, this).Show(healing, stream, sequence, lease.Span.Slice(offset, length));
        }

        NoteGap(stream);
        return DropReason.None;
    }

    /// <summary>Whether this member has not had a packet, known to be sent or not.</summary>
    public bool IsWanted(StreamKey stream, long number) => Find(stream) is not { } known || !known.HasHad(number);

    /// <summary>Takes a data packet that was made out of others, as if it had come.</summary>
    public DropReason Heal(ReadOnlySpan<byte> packet) => new HealedPackets(_parts, this).Take(packet);

    public void OnAnnounce(StreamKey key, long highest)
    {
        var stream = FindOrAdd(key);
        if (stream.TryRetract(highest))
        {
            Stability.Retract(key, highest);
        }

        stream.OnAnnounced(highest);
        NoteGap(stream);
        Stability.OnAnnounce(key);
    }

    public void OnMissed(InboundStream stream, long first, long last)
    {
        Healing?.OnMissed(stream, first, last);
        _parts.Schemes.RepairWatch?.OnMissed(stream, first, last);
    }

    public void OnFilled(InboundStream stream, long number, in PacketSlot missing)
    {
        _repairs[stream].OnFilled(missing);
        _parts.Schemes.RepairWatch?.OnFilled(stream, number);
    }

    public void NoteGap(InboundStream stream)
    {
        if (stream.Missing.Count > 0 || (!stream.IsReliable && stream.IsAnyOpen))
        {
            _repairs[stream].OnMissing();
        }
    }

    public void AskAnew(IStreamOfMember stream)
    {
        if (stream.Missing.Count > 0)
        {
            _repairs[(InboundStream)stream].AskAnew();
        }
    }

    /// <summary>Whether this node has received no stream of this sender over the group for a while.</summary>
    public bool IsSilent(NodeKey sender) => _table.IsSilent(sender);

    /// <summary>Whether the node was removed since the view was opened, or is not known yet although others have reported it.</summary>
    public bool IsGone(NodeKey node) => FindReliable(node) is { IsSenderGone: true } || HasLost(node);

    public InboundStream? Find(StreamKey stream) => _table.Find(stream);

    /// <summary>A reliable stream of the sender, of whichever number; null if there is none.</summary>
    public InboundStream? FindReliable(NodeKey sender) => _table.FindReliable(sender);

    public InboundStream FindOrAdd(StreamKey key)
    {
        if (_table.Find(key) is not { } stream)
        {
            var kept = new KeptPackets(Keepers, OwnPartition, RetentionOf(key.Class));
            stream = new InboundStream(_parts, View, key, _consumer, kept) { Gaps = this };
            if (HasLost(key.Sender))
            {
                stream.OnSenderLeft();
            }

            _table.Add(stream);
            _repairs.Add(stream, _parts.Repair.ForReceiver(_parts.Schemes, this, stream));
            if (stream.IsReliable && _ended is not null && _ended.TryTake(key, out var end))
            {
                stream.ResumeBehind(end.Through);
                Stability.Resume(stream, end.Decision);
            }

            if (stream.IsSenderGone)
            {
                _consumer.OnSenderGone(stream);
            }
        }

        return stream;
    }

    /// <summary>Finds the stream of a data packet, or adds it. Returns None, or why the packet is not taken.</summary>
    public DropReason FindFor(StreamKey key, long number, out InboundStream? stream)
    {
        if (IsGone(key.Sender))
        {
            // The sender is not in the directory, or was away since this view: it has departed, or is not known yet. A packet of a stream
            // that exists here may come from a survivor on behalf of a departed sender. It still counts, because the survivors agree on
            // what they deliver of that stream. Nothing is repaired in other streams.
            stream = key.Class.IsReliable && Find(key) is { IsSenderGone: true } left && left.Lacks(number) ? left : null;
            return stream is null ? DropReason.UnknownSender : DropReason.None;
        }

        stream = key.Class.IsKnown ? FindOrAdd(key) : null;
        return stream is null ? DropReason.UnknownClass : DropReason.None;
    }

    /// <summary>
    /// A reliable stream that another member reports, known or not; null if more unknown senders are reported than can exist.
    /// </summary>
    public InboundStream? FindReported(StreamKey key) => Find(key) ?? (_table.MayBe(key) ? FindOrAdd(key) : null);

    /// <summary>
    /// Whether only the sender can supply what is missing: members need not find out first whether others hold it.
    /// </summary>
    public bool AsksOnlySender(IStreamOfMember stream) =>
        !stream.IsSenderGone && (Live.Count == 1 || (Live.Count == 2 && Live.Contains(stream.Sender)));

    /// <summary>A token shows which of the packets that are missing here others hold.</summary>
    public void Compare(IStreamOfMember stream, in RingComparison compared) => _repairs[(InboundStream)stream].OnCompared(compared);

    public bool NeedsNeighbourPush(IStreamOfMember stream) => _repairs[(InboundStream)stream].NeedsNeighbourPush;

    /// <summary>A configuration names the view again, with no change.</summary>
    public void Confirm(long configuration) => _closing.Confirm(configuration);

    public void Supersede(long configuration) => _closing.Supersede(configuration);

    /// <summary>A node was removed, by this configuration or, if it is null, by a change of the service.</summary>
    public void OnNodeGone(LostNode lost, long? configuration)
    {
        if (_closing.TryLose(lost, configuration))
        {
            _closing.ForgetDeparted(MayForget);
            if (Live.Lose(lost.Key))
            {
                OnFewer(lost.Key);
            }
        }

        foreach (var stream in Streams)
        {
            if (stream.Sender == lost.Key)
            {
                stream.OnSenderLeft();
                NoteGap(stream);
                _consumer.OnSenderGone(stream);
            }
        }

        Stability.OnMembersChanged();
    }

    /// <summary>A configuration names all nodes again, perhaps that of another service.</summary>
    public void OnSnapshot() => _closing.OnSnapshot();

    /// <summary>This node stood still for so long.</summary>
    public void OnPause(TimeSpan length)
    {
        _closing.OnPause(length);
        Stability.OnPause(length);
    }

    /// <summary>A node reports that it stood still.</summary>
    public void OnMemberPaused(NodeKey node) => Stability.OnMemberPaused(node);

    /// <summary>
    /// Called when a member has closed the view because it has all packets. It holds nothing any more, and no member waits for it.
    /// </summary>
    public void OnMemberClosed(NodeKey node)
    {
        if (Live.Close(node))
        {
            OnFewer(node);
            Stability.OnMembersChanged();
        }
    }

    /// <summary>
    /// Called when the directory has new nodes. A sender that other members reported before the membership service did is then known to be
    /// alive.
    /// </summary>
    /// <param name="configuration">The configuration that announces them.</param>
    public void OnNodesCame(long configuration)
    {
        _closing.TakeBackNew(configuration);
        foreach (var stream in Streams)
        {
            if (stream.IsSenderGone && !HasLost(stream.Sender))
            {
                stream.OnSenderReturned();
                NoteGap(stream);
            }
        }
    }

    /// <summary>Whether all streams are drained.</summary>
    public bool IsDrained => _table.IsDrained;

    public long AgreementWanted => _closing.AgreementWanted;

    /// <summary>Whether a settled view may be closed here.</summary>
    public bool MayClose => _closing.MayClose(IsDrained);

    /// <summary>For a settled view: whether this node has delivered everything that was sent in it.</summary>
    public bool HasAll => _closing.HasAll(IsDrained);

    /// <summary>Whether other members may still report more packets of a departed sender than are known here.</summary>
    public bool MayHearMoreOf(NodeKey sender) => _closing.MayHearMoreOf(sender);

    /// <summary>
    /// Called in a view in which the streams of all live senders are settled. If no token of the other members has arrived for long, they
    /// have closed the view, and no node holds what a departed sender has left open here.
    /// </summary>
    public void GiveUpIfAlone()
    {
        if (!_closing.IsAlone)
        {
            return;
        }

        foreach (var stream in Streams)
        {
            if (stream.IsReliable && stream.IsSenderGone && !stream.IsDrained)
            {
                stream.GiveUp(1, stream.Highest);
                stream.Finish();
            }
        }
    }

    public void Close()
    {
        Stability.Close();
        foreach (var repair in _repairs.Values)
        {
            repair.Close();
        }

        foreach (var stream in Streams)
        {
            stream.Close();
        }

        Healing?.Close();
        Forwarder?.Close();
        Port?.RemoveUser();
    }

    /// <summary>
    /// Gives up the streams of senders that are gone, with all that belongs to them, if they are settled: all members have held and
    /// consumed what was sent for a while, and no older view may bring more of the sender. Returns true if streams of such senders remain.
    /// </summary>
    public bool EndSettled(Predicate<NodeKey> mayOlderBringMore, out bool isAnyEnded)
    {
        int before = Streams.Count;
        bool isAnyLeft = false;
        Streams.RemoveAll(stream =>
        {
            if (!stream.IsSenderGone)
            {
                return false;
            }

            if (!MayEnd(stream) || mayOlderBringMore(stream.Sender))
            {
                isAnyLeft = true;
                return false;
            }

            End(stream);
            return true;
        });
        isAnyEnded = Streams.Count < before;
        return isAnyLeft;
    }

    IReadOnlyList<ITrackedStream> ITrackedView.Streams => Streams;

    void IViewOfMember.NoteGap(IStreamOfMember stream) => NoteGap((InboundStream)stream);

    IStreamOfMember? IViewOfMember.Find(StreamKey stream) => Find(stream);

    ITrackedStream? ITrackedView.FindReported(StreamKey stream) => FindReported(stream);

    private bool MayEnd(InboundStream stream)
    {
        var now = Context.Environment.Now;
        if (!stream.IsDrained || stream.IsRefusing)
        {
            return false;
        }

        var since = _closing.GoneAt(stream.Sender, otherwise: OpenedAt);
        if (!stream.IsReliable)
        {
            // What others reported of its messages is in the reliable stream.
            return FindReliable(stream.Sender) is null && now - since >= Context.Options.ClosingPause;
        }

        var ended = _ended ??= new EndedStreams(Context.Options.ClosingPause);
        if (!Stability.TryFinish(stream, out var settled) || !ended.HasRoom(now))
        {
            return false;
        }

        // The rest of a message that has begun can come only from a member that has heard the sender for longer than this one.
        var pause = stream.IsAnyOpen ? ended.MinAge : Context.Options.ClosingPause;
        since = settled > since ? settled : since;
        return now - since >= pause && (Live.Count <= 1 || Stability.LastHeard - since >= pause / 2);
    }

    private void End(InboundStream stream)
    {
        _table.Forget(stream);
        if (_repairs.Remove(stream, out var repair))
        {
            repair.Close();
        }

        if (stream.IsReliable)
        {
            _ended!.Add(stream.Key, new StreamEnd(stream.Highest, Context.Environment.Now, Stability.Forget(stream)));
        }

        stream.Close();
    }

    // A packet for which packet memory has no room is treated like a drop in a full socket: its sender slows down, and the packet is
    // requested again.
    private void OnRefused(InboundStream stream, DropReason reason)
    {
        if (reason == DropReason.NoMemory)
        {
            _memoryDrops++;
            NoteGap(stream);
        }
    }

    private NodeContext Context => _parts.Node;

    private bool HasLost(NodeKey node) => _closing.HasLost(node);

    private bool MayForget(NodeKey node) =>
        !_table.HasAnyOf(node) && View.Members.AsSpan().BinarySearch(node) < 0;

    private void OnFewer(NodeKey node)
    {
        var (first, end) = Keepers.MembersOf(Keepers.PartitionOf(Live.RankOf(node)));
        _isPartitionLost |= Live.FirstIn(first, end) < 0;
        foreach (var stream in Streams)
        {
            stream.Retention = RetentionOf(stream.Class);
        }
    }

    private Retention RetentionOf(StreamClass streamClass)
    {
        if (!streamClass.IsReliable || Live.Count <= 1)
        {
            return Retention.None;
        }

        return _isPartitionLost ? Retention.All : Retention.OwnPartition;
    }
}
