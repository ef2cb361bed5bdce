using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Dissemination;
using QuickSilver.Multicast.Repair;
using QuickSilver.Multicast.Sending;
using QuickSilver.Multicast.Stability;
using QuickSilver.Multicast.Views;

namespace QuickSilver.Multicast.Receiving;

// One view of a region as one of its members lives it: the inbound streams of its senders, and what finds out how far all members
// hold them. It lives on after a newer view has come, until the service says that all is settled and all was accepted above.
internal sealed class RegionReceiver : IGapObserver
{
    // Twice the window of a sender that was told of no socket.
    private const long UnicastRoomPackets = 4096;

    // Senders that members tell of and the directory has not, at a time: they are gone, or will be known soon.
    private const int MostStrangers = 256;

    private readonly MulticastContext _context;
    private readonly IStreamConsumer _consumer;
    private readonly Dictionary<NodeKey, InboundStream> _reliable = [];
    private readonly Dictionary<NodeKey, InboundStream> _bestEffort = [];
    private readonly Dictionary<InboundStream, IRepairStrategy> _repairs = [];
    private readonly List<InboundStream> _streams = [];
    // Who was removed since the view was opened; it may have sent here, though this member has not heard of it, and does not
    // come back to this view when it comes back to the cluster.
    private readonly HashSet<NodeKey> _gone = [];
    private bool _isPartitionLost;
    private long _memoryDrops;
    private TimeSpan _lastGoneAt;

    public RegionReceiver(MulticastContext context, RegionView view, RegionPort? port, IStreamConsumer consumer)
    {
        _context = context;
        _consumer = consumer;
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
        Stability = context.Options.Stability.ForRegion(context, this);
        Forwarder = context.Options.Dissemination.ToForward(context, view);
        _lastGoneAt = context.Environment.Now;
    }

    public RegionView View { get; }
    // Null where members pass nothing on.
    public IForwarder? Forwarder { get; }
    public RegionPort? Port { get; }
    // This member hears nothing that is sent to the view's group, and lives by what others send to it alone.
    public bool IsDeaf => Port is { IsDeaf: true };
    public PacketKeepers Keepers { get; }
    // Of members that were asked for what another sent.
    public PullClock PullClock { get; }
    public IStabilityTracker Stability { get; }
    public LiveMembers Live { get; }
    // This member's.
    public int SelfRank { get; }
    // Of what this member sends to other members of the view.
    public PacketTemplate Template { get; }
    // The packets that this member keeps for others are those of its partition.
    public int OwnPartition { get; }
    public long SupersededAt { get; private set; }

    /// <summary>Datagrams of the view for which there was no room: in the socket, or in packet memory.</summary>
    public long Drops => (Port?.KernelDrops ?? 0) + _context.UnicastDrops + _memoryDrops;

    /// <summary>
    /// What may wait here for one sender: in the socket, or in packet memory, which all share who send now. A sender's window is half
    /// of it, and it may send as many windows as it waits for repairs.
    /// </summary>
    public long RoomBytes
    {
        get
        {
            long socket = Port?.ReceiveBufferBytes ?? UnicastRoomPackets * _context.Options.PacketBytes;
            return Math.Min(socket, _context.Memory.BytesPerStream * 2 / SendWindow.RepairWindows);
        }
    }

    /// <summary>Whether what is sent to the view's group can reach this node at all.</summary>
    public bool MayHear => Port is { IsDeaf: false };
    // In order of first packet; deterministic. A list, so that going through it allocates nothing.
    public List<InboundStream> Streams => _streams;

    /// <summary>The stability tracker is to be told of the activity, once for as many packets as come together.</summary>
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
            _context.Counters.GapsSeen++;
        }

        NoteGap(stream);
        return DropReason.None;
    }

    public void OnAnnounce(NodeKey sender, long highest)
    {
        var stream = FindOrAdd(sender, StreamClass.Reliable);
        if (stream.TryRetract(highest))
        {
            Stability.Retract(sender, highest);
        }

        stream.OnAnnounced(highest);
        NoteGap(stream);
        Stability.OnAnnounce(sender);
    }

    public void OnMissed(InboundStream stream, long first, long last) => _context.RepairWatch?.OnMissed(stream, first, last);

    public void OnFilled(InboundStream stream, long number, in PacketSlot missing)
    {
        _repairs[stream].OnFilled(missing);
        _context.RepairWatch?.OnFilled(stream, number);
    }

    public void NoteGap(InboundStream stream)
    {
        if (stream.Missing.Count > 0 || (!stream.IsReliable && stream.IsAnyOpen))
        {
            _repairs[stream].OnMissing();
        }
    }

    public void AskAnew(InboundStream stream)
    {
        if (stream.Missing.Count > 0)
        {
            _repairs[stream].AskAnew();
        }
    }

    /// <summary>Whether no stream of this sender was heard over the group for a while.</summary>
    public bool IsSilent(NodeKey sender)
    {
        bool isSilent = true;
        foreach (var stream in _streams)
        {
            isSilent &= stream.Sender != sender || stream.Heard.IsSilent(_context.Environment.Now);
        }

        return isSilent;
    }

    /// <summary>Whether it was removed since the view was opened, or is not known yet though others told of it.</summary>
    public bool IsGone(NodeKey node) => Find(node) is { IsSenderGone: true } || HasLost(node);

    public InboundStream? Find(NodeKey sender) => _reliable.GetValueOrDefault(sender);

    public InboundStream FindOrAdd(NodeKey sender, StreamClass streamClass)
    {
        var table = streamClass.IsReliable ? _reliable : _bestEffort;
        if (!table.TryGetValue(sender, out var stream))
        {
            stream = new InboundStream(_context, View, sender, streamClass, _consumer)
            {
                Keepers = Keepers,
                Gaps = this,
                OwnPartition = OwnPartition,
                Retention = RetentionOf(streamClass),
            };
            if (HasLost(sender))
            {
                stream.OnSenderLeft();
            }

            table.Add(sender, stream);
            _streams.Add(stream);
            _repairs.Add(stream, _context.Options.Repair.ForReceiver(_context, this, stream));
        }

        return stream;
    }

    /// <summary>
    /// The stream of a sender of which another member tells, known or not; null when more are told of that nobody has heard of than can be.
    /// </summary>
    public InboundStream? FindTold(NodeKey sender)
    {
        if (Find(sender) is { } known)
        {
            return known;
        }

        if (!_context.Directory.Contains(sender))
        {
            int strangers = 0;
            foreach (var stream in _streams)
            {
                strangers += stream.IsReliable && !_context.Directory.Contains(stream.Sender) ? 1 : 0;
            }

            if (strangers >= MostStrangers)
            {
                return null;
            }
        }

        return FindOrAdd(sender, StreamClass.Reliable);
    }

    public bool NeedsNeighbourPush(InboundStream stream) => _repairs[stream].NeedsNeighbourPush;

    public void Supersede(long configuration)
    {
        if (SupersededAt == 0)
        {
            SupersededAt = configuration;
        }
    }

    public void OnNodeGone(NodeKey node)
    {
        _gone.Add(node);
        _lastGoneAt = _context.Environment.Now;
        if (Live.Lose(node))
        {
            OnFewer(node);
        }

        foreach (var stream in _streams)
        {
            if (stream.Sender == node)
            {
                stream.OnSenderLeft();
                NoteGap(stream);
            }
        }

        Stability.OnMembersChanged();
    }

    /// <summary>It had all it wanted of this view and has closed it: it holds nothing any more, and nobody waits for it.</summary>
    public void OnMemberClosed(NodeKey node)
    {
        if (Live.Close(node))
        {
            OnFewer(node);
            Stability.OnMembersChanged();
        }
    }

    /// <summary>The directory has grown: a sender that others told of before the membership service did is alive.</summary>
    public void OnNodesCame()
    {
        foreach (var stream in _streams)
        {
            if (stream.IsSenderGone && !HasLost(stream.Sender))
            {
                stream.OnSenderReturned();
                NoteGap(stream);
            }
        }
    }

    /// <summary>Nothing is open any more; who is still missing something is asked to hurry, not cut off.</summary>
    public bool IsDrained
    {
        get
        {
            foreach (var stream in _streams)
            {
                if (!stream.IsDrained)
                {
                    return false;
                }
            }

            return true;
        }
    }

    /// <summary>
    /// Nothing is open here; and when some node is gone, whom nobody can ask any more, no member has had anything open for
    /// a while: until then another member may lack what only this one has.
    /// </summary>
    public bool MayClose
    {
        get
        {
            if (!IsDrained)
            {
                return false;
            }

            return _gone.Count == 0 || Live.Count <= 1
                || _context.Environment.Now - Stability.LastUnconsumed >= _context.Options.ClosingPause;
        }
    }

    /// <summary>
    /// Of a view that is settled: all that was sent in it was handed up here. Of a node that is gone others may know more until all
    /// members have held the same for a while; whether they have taken it does not matter.
    /// </summary>
    public bool HasAll => IsDrained && (_gone.Count == 0 || !MayOthersKnowMore);

    /// <summary>
    /// Whether others may still tell that a sender that is gone sent more here than is known: until all members have held all for a
    /// while.
    /// </summary>
    public bool MayHearMoreOf(NodeKey sender) => MayOthersKnowMore && HasLost(sender);

    /// <summary>
    /// In a view that all live senders are done with: when nothing was heard of them for long, the other members have closed it, and
    /// what a sender that is gone has left open here is nowhere any more.
    /// </summary>
    public void GiveUpIfAlone()
    {
        if (_context.Environment.Now - Stability.LastHeard < _context.Options.ClosingPause * 3)
        {
            return;
        }

        foreach (var stream in _streams)
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

        foreach (var stream in _streams)
        {
            stream.Close();
        }

        Forwarder?.Close();
        Port?.RemoveUser();
    }

    // What packet memory had no room for is dropped as a full socket drops it: its senders go slower, and it is asked for again.
    private void OnRefused(InboundStream stream, DropReason reason)
    {
        if (reason == DropReason.NoMemory)
        {
            _memoryDrops++;
            NoteGap(stream);
        }
    }

    // Of nodes that are gone: until all members have held the same for a while.
    private bool MayOthersKnowMore
    {
        get
        {
            var last = _lastGoneAt > Stability.LastUnstable ? _lastGoneAt : Stability.LastUnstable;
            return Live.Count > 1 && _context.Environment.Now - last < _context.Options.ClosingPause;
        }
    }

    private bool HasLost(NodeKey node) => _gone.Contains(node) || !_context.Directory.Shares(node, View.Configuration);

    private void OnFewer(NodeKey node)
    {
        var (first, end) = Keepers.MembersOf(Keepers.PartitionOf(Live.RankOf(node)));
        _isPartitionLost |= Live.FirstIn(first, end) < 0;
        foreach (var stream in _streams)
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
