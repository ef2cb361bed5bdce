using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Receiving;
using QuickSilver.Multicast.Views;

namespace QuickSilver.Multicast.Stability;

// The rings of one view in which a member sits: that of its level 0, and as long as it leads one, the ring above that. What
// is found goes up, ring by ring, and what is settled comes down again; nobody waits for another ring's token.
//
// What each token does with a record is here, once for all levels: tell what is settled, learn it, add what this seat holds.
internal sealed class RingHierarchy
{
    private const int MostIdleEpochs = 4;
    // So many are not begun while a node does not hear of one.
    private const ulong MostEpochsAhead = 1 << 16;

    private readonly List<TokenRing> _rings = [];
    private readonly Dictionary<NodeKey, Settlement> _settlements = [];
    private readonly SequenceRanges _unsupplied = new(RecoveryRecord.MaxRanges);

    public RingHierarchy(MulticastContext context, RegionReceiver region)
    {
        Context = context;
        Region = region;
        Template = context.Template(region.View);
        SelfRank = Live.RankOf(context.Self);
        LastBusy = LastUnsettled = LastHeard = context.Environment.Now;
        JoinRings();
    }

    public MulticastContext Context { get; }
    public RegionReceiver Region { get; }
    public PacketTemplate Template { get; }
    public int SelfRank { get; }
    public LiveMembers Live => Region.Live;
    public RingShape Shape => Region.Shape;
    // The one under the hand: read, added to, and passed on within one call.
    public Token Token => Context.Token;

    /// <summary>At the root's leader, the time that the last whole rounds of all levels took together; zero before the first.</summary>
    public TimeSpan LastRoundTrip
    {
        get
        {
            var sum = TimeSpan.Zero;
            if (_rings.Count == Shape.Levels && _rings[^1].IsLeader)
            {
                foreach (var ring in _rings)
                {
                    sum += ring.LastRoundTrip;
                }
            }

            return sum;
        }
    }

    /// <summary>When a token last said that something is not settled, here or at another member.</summary>
    public TimeSpan LastBusy { get; private set; }

    /// <summary>When a token last said that not all members hold what one of them knows was sent.</summary>
    public TimeSpan LastUnsettled { get; private set; }

    /// <summary>When the last token came by.</summary>
    public TimeSpan LastHeard { get; private set; }

    // By order of the level.
    public IReadOnlyList<TokenRing> Rings => _rings;

    public static long Smaller(long a, long b) => a == 0 || (b != 0 && b < a) ? b : a;

    public static void Copy(SequenceRanges from, SequenceRanges into)
    {
        into.Clear();
        for (int i = 0; i < from.Count && i < RecoveryRecord.MaxRanges; i++)
        {
            into.Add(from[i].First, from[i].Last);
        }
    }

    public void OnActivity() => _rings[0].OnActivity();

    public void OnAckWanted() => _rings[0].OnAckWanted();

    /// <summary>A sender that announces is not acknowledged yet: perhaps the acknowledgement was lost, so it is told again.</summary>
    public void OnAnnounce(NodeKey sender)
    {
        foreach (var ring in _rings)
        {
            ring.Recall(sender, andAcknowledge: true);
        }
    }

    public void OnMembersChanged()
    {
        JoinRings();
        foreach (var settlement in _settlements.Values)
        {
            settlement.IsAbandoned |= settlement.IsGathering && !Live.IsLive(settlement.EpochLeader);
        }

        foreach (var ring in _rings)
        {
            ring.OnMembersChanged();
        }
    }

    public DropReason OnToken(NodeKey from, ReadOnlySpan<byte> body)
    {
        int rank = Live.RankOf(from);
        if (!Live.IsLive(rank))
        {
            return DropReason.NotMember;
        }

        if (!Token.TryRead(body))
        {
            return DropReason.Malformed;
        }

        // For an earlier life at this address, or for a ring that this node does not lead below.
        if (Token.To != Context.Self || Token.Level >= _rings.Count
            || Shape.RingOf(Token.Level, rank) != Shape.RingOf(Token.Level, SelfRank))
        {
            return DropReason.NotMember;
        }

        return _rings[Token.Level].OnToken(from);
    }

    public void OnProbeReply(NodeKey from)
    {
        foreach (var ring in _rings)
        {
            ring.OnProbeReply(from);
        }
    }

    /// <summary>A leader's probe says that its token does not come back.</summary>
    public void OnTokenMissed(NodeKey leader)
    {
        foreach (var ring in _rings)
        {
            ring.OnTokenMissed(leader);
        }
    }

    public void Close()
    {
        foreach (var ring in _rings)
        {
            ring.Close();
        }
    }

    /// <summary>The rank that leads the ring: the first live one under it; -1 when none lives.</summary>
    public int LeaderOf(int level, int ring)
    {
        var (first, end) = Shape.RanksOf(level, ring);
        return Live.FirstIn(first, end);
    }

    /// <summary>The rank that sits in the seat; -1 when none lives.</summary>
    public int OccupantOf(int level, int seat)
    {
        var (first, end) = Shape.RanksOfSeat(level, seat);
        return Live.FirstIn(first, end);
    }

    public Settlement SettlementOf(NodeKey sender)
    {
        if (!_settlements.TryGetValue(sender, out var settlement))
        {
            settlement = new Settlement();
            _settlements.Add(sender, settlement);
        }

        return settlement;
    }

    public long DropsUnder(int level) => level == 0 ? Region.Drops : _rings[level - 1].KernelDrops;

    public long BufferUnder(int level) => level == 0 ? Region.RoomBytes : _rings[level - 1].ReceiveBufferBytes;

    /// <summary>At the root's leader: what a sender that is gone has left open is decided about.</summary>
    public void BeginEpochIfDue(InboundStream stream, Settlement settlement)
    {
        long through = Math.Max(settlement.HeldByAny, stream.Highest);
        if (!stream.IsSenderGone || settlement.IsGathering || settlement.Stable >= through
            || Context.Environment.Now < settlement.NextEpochAt)
        {
            return;
        }

        EndDecided(stream, settlement);
        settlement.Epoch = settlement.NextEpoch(SelfRank);
        settlement.IsDecided = settlement.IsAbandoned = false;
        settlement.Through = through;
    }

    /// <summary>What is known to be settled goes into the record.</summary>
    public void Tell(Settlement settlement, RecoveryRecord record)
    {
        record.Stable = settlement.Stable;
        record.Replicated = settlement.Replicated;
        record.KnownHeldByAny = settlement.HeldByAny;
        record.Epoch = settlement.Epoch;
        record.Through = settlement.Through;
        record.IsGathering = settlement.IsGathering;
        record.IsDecided = settlement.IsDecided;
        if (settlement.IsDecided)
        {
            Copy(settlement.Lost, record.LackedByAll);
        }
    }

    /// <summary>What the record says is settled is so here too. True when something of it is news.</summary>
    public bool Learn(RecoveryRecord record, Settlement settlement, InboundStream stream)
    {
        // Also what this round has found so far: that a packet was sent is true wherever it was heard.
        long heldByAny = stream.Believable(Math.Max(record.KnownHeldByAny, record.HeldByAny));
        // Held by all is held by this member; who is left out does not count, and has no use for it.
        long stable = Math.Min(record.Stable, stream.Contiguous);
        long replicated = stream.Believable(record.Replicated);
        bool isNews = stable > settlement.Stable || replicated > settlement.Replicated || heldByAny > settlement.HeldByAny;
        settlement.Stable = Math.Max(settlement.Stable, stable);
        settlement.Replicated = Math.Max(settlement.Replicated, replicated);
        settlement.HeldByAny = Math.Max(settlement.HeldByAny, heldByAny);
        stream.OnAnnounced(settlement.HeldByAny);
        Region.NoteGap(stream);
        bool isLater = record.Epoch > settlement.Epoch && (record.Epoch >> 32) - (settlement.Epoch >> 32) <= MostEpochsAhead;
        if (record.IsDecided ? isLater || (record.Epoch == settlement.Epoch && !settlement.IsDecided) : isLater && record.IsGathering)
        {
            isNews = true;
            EndDecided(stream, settlement);
            settlement.Epoch = record.Epoch;
            settlement.Through = record.Through;
            settlement.IsDecided = record.IsDecided;
            settlement.IsAbandoned = !record.IsDecided && !Live.IsLive(settlement.EpochLeader);
            if (record.IsDecided)
            {
                Copy(record.LackedByAll, settlement.Lost);
                Decided(stream, settlement);
            }
        }

        stream.SetStable(settlement.Stable, settlement.Replicated);
        FinishIfDone(stream, settlement);
        return isNews;
    }

    /// <summary>All is never more than this member itself, whatever others made of the record on its way.</summary>
    public static void Bound(RecoveryRecord record, InboundStream stream)
    {
        record.HeldByAll = Math.Min(record.HeldByAll, stream.Contiguous);
        record.ConsumedByAll = Math.Min(record.ConsumedByAll, stream.Consumed);
        record.ReadByAll = Math.Min(record.ReadByAll, stream.Highest);
        record.ReplicatedByAll = Math.Min(record.ReplicatedByAll, stream.KeptContiguous);
        record.HeldByAny = stream.Believable(record.HeldByAny);
    }

    /// <summary>At the root's leader, when a round is over.</summary>
    public void Settle(RecoveryRecord record, Settlement settlement, InboundStream stream, bool isWhole)
    {
        long before = settlement.Stable;
        settlement.HeldByAny = Math.Max(settlement.HeldByAny, record.HeldByAny);
        if (isWhole)
        {
            settlement.Stable = Math.Max(settlement.Stable, record.HeldByAll);
            settlement.Replicated = Math.Max(settlement.Replicated, record.ReplicatedByAll);
        }

        stream.OnAnnounced(settlement.HeldByAny);
        Region.NoteGap(stream);
        if (isWhole && settlement.IsGathering && record.IsGathering && record.Epoch == settlement.Epoch && !record.IsPartial)
        {
            settlement.IsDecided = true;
            settlement.Lost.Clear();
            if (!record.IsRefused)
            {
                Copy(record.LackedByAll, settlement.Lost);
            }

            settlement.IdleEpochs = settlement.Lost.Count > 0 ? 0 : Math.Min(settlement.IdleEpochs + 1, MostIdleEpochs);
            settlement.NextEpochAt = Context.Environment.Now + (Context.Options.EpochSpacing * (1 << settlement.IdleEpochs));
            Decided(stream, settlement);
        }

        stream.SetStable(settlement.Stable, settlement.Replicated);
        FinishIfDone(stream, settlement);
        if (settlement.Stable > before || record.Stable < settlement.Stable || settlement.HeldByAny > record.KnownHeldByAny)
        {
            RecallBelow(Shape.Levels - 1, record.Sender);
        }
    }

    /// <summary>The leader's own part of a record, the first.</summary>
    public void Open(int level, InboundStream stream, Settlement settlement, RecoveryRecord record)
    {
        record.HeldByAll = record.ConsumedByAll = record.ReadByAll = record.ReplicatedByAll = long.MaxValue;
        Merge(level, stream, record);
        record.HeldRanges = Held(level, stream, record.Stable);
        if (record.IsGathering)
        {
            var own = Unsupplied(level, stream, settlement, record);
            if (own is not null)
            {
                Copy(own, record.LackedByAll);
            }
        }

        SignAsNeighbour(stream, record);
    }

    /// <summary>A seat's part.</summary>
    public void Join(int level, InboundStream stream, Settlement settlement, RecoveryRecord record)
    {
        Merge(level, stream, record);
        if (record.HeldRanges is { } held)
        {
            held.IntersectWith(Held(level, stream, record.Stable) ?? new SequenceRanges(1));
        }

        if (record.IsGathering && Unsupplied(level, stream, settlement, record) is { } own)
        {
            record.LackedByAll.IntersectWith(own);
        }

        SignAsNeighbour(stream, record);
    }

    /// <summary>The sender itself says that it has sent no more: what others told beyond it is not so.</summary>
    public void Retract(NodeKey sender, long sent)
    {
        var settlement = SettlementOf(sender);
        settlement.HeldByAny = Math.Min(settlement.HeldByAny, sent);
        foreach (var ring in _rings)
        {
            if (ring.FindResult(sender) is { } result)
            {
                result.HeldByAny = Math.Min(result.HeldByAny, sent);
            }
        }
    }

    public void TrimStreams(int level)
    {
        for (int i = 0; level == 0 && i < Region.Streams.Count; i++)
        {
            Region.Streams[i].Trim();
        }
    }

    /// <summary>News from a ring: those below that this node leads pass it on.</summary>
    public void RecallBelow(int level, NodeKey sender)
    {
        for (int i = level - 1; i >= 0; i--)
        {
            _rings[i].Recall(sender, andAcknowledge: false);
        }
    }

    /// <summary>A ring has found something new.</summary>
    public void RecallAbove(int level, NodeKey sender)
    {
        if (level + 1 < _rings.Count)
        {
            _rings[level + 1].Recall(sender, andAcknowledge: false);
        }
    }

    /// <summary>A round that a sender wanted is over: the ring above has news to take up.</summary>
    public void WantAbove(int level)
    {
        if (level + 1 < _rings.Count)
        {
            _rings[level + 1].OnAckWanted();
        }
    }

    public void NoteBusy(Token token)
    {
        LastHeard = Context.Environment.Now;
        for (int i = 0; i < token.Count; i++)
        {
            var record = token[i];
            long highest = Math.Max(record.HeldByAny, record.KnownHeldByAny);
            if (record.IsGathering || record.Stable < highest)
            {
                LastBusy = LastUnsettled = LastHeard;
            }
            else if (record.ConsumedByAll < highest)
            {
                LastBusy = LastHeard;
            }
        }
    }

    // A leader of a ring has a seat in the ring above. Leadership comes when those before are removed, and never goes.
    private void JoinRings()
    {
        while (_rings.Count < Shape.Levels && (_rings.Count == 0 || _rings[^1].IsLeader))
        {
            _rings.Add(new TokenRing(this, _rings.Count));
        }
    }

    private void Merge(int level, InboundStream stream, RecoveryRecord record)
    {
        if (level == 0)
        {
            record.HeldByAll = Math.Min(record.HeldByAll, stream.Contiguous);
            record.ConsumedByAll = Math.Min(record.ConsumedByAll, stream.Consumed);
            record.ReadByAll = Math.Min(record.ReadByAll, stream.Read);
            record.ReplicatedByAll = Math.Min(record.ReplicatedByAll, stream.KeptContiguous);
            record.HeldByAny = Math.Max(record.HeldByAny, stream.Highest);
            return;
        }

        var below = _rings[level - 1].FindResult(stream.Sender);
        record.HeldByAll = Math.Min(record.HeldByAll, below?.HeldByAll ?? 0);
        record.ConsumedByAll = Math.Min(record.ConsumedByAll, below?.ConsumedByAll ?? 0);
        record.ReadByAll = Math.Min(record.ReadByAll, below?.ReadByAll ?? 0);
        record.ReplicatedByAll = Math.Min(record.ReplicatedByAll, below?.ReplicatedByAll ?? 0);
        record.HeldByAny = Math.Max(record.HeldByAny, Math.Max(below?.HeldByAny ?? 0, stream.Highest));
    }

    // A copy of what the seat holds; null where it is not told in ranges.
    private SequenceRanges? Held(int level, InboundStream stream, long stable)
    {
        if (Context.Options.FeedbackRanges <= 1)
        {
            return null;
        }

        var held = new SequenceRanges(Math.Min(Context.Options.FeedbackRanges, RecoveryRecord.MaxHeldRanges));
        if (level == 0)
        {
            if (stable < stream.Highest)
            {
                stream.Missing.AddMissing(stable + 1, stream.Highest, held);
            }
        }
        else if (_rings[level - 1].FindResult(stream.Sender)?.HeldRanges is { } below)
        {
            Copy(below, held);
        }

        return held;
    }

    // What nobody in this seat can supply; null when it cannot be said, and the record is marked so. From then on the seat
    // takes nothing of the stream until the decision, so that what was said stays true.
    private SequenceRanges? Unsupplied(int level, InboundStream stream, Settlement settlement, RecoveryRecord record)
    {
        if (level > 0)
        {
            var below = _rings[level - 1].FindResult(stream.Sender);
            if (below is null || below.Epoch != record.Epoch)
            {
                record.IsPartial = true;
                return null;
            }

            record.IsRefused |= below.IsRefused;
            return below.Lacked;
        }

        if (!stream.IsSenderGone || settlement.Epoch != record.Epoch || !settlement.IsGathering)
        {
            record.IsRefused = true;
            return null;
        }

        stream.BeginDecision();
        stream.CopyUnsupplied(record.Through, _unsupplied);
        return _unsupplied;
    }

    private void SignAsNeighbour(InboundStream stream, RecoveryRecord record)
    {
        record.NeighbourGaps.Clear();
        // Not while it would refuse what the neighbour gave: at each token, for as long as the members do not agree on who is gone.
        if (!stream.IsRefusing && Region.NeedsNeighbourPush(stream))
        {
            Copy(stream.Missing, record.NeighbourGaps);
        }
    }

    // An epoch begins while another is open: what this member told in that one need not stay true.
    private static void EndDecided(InboundStream stream, Settlement settlement)
    {
        if (!settlement.IsUndecided)
        {
            stream.EndDecision();
        }
    }

    private void Decided(InboundStream stream, Settlement settlement)
    {
        stream.EndDecision();
        for (int i = 0; i < settlement.Lost.Count; i++)
        {
            stream.GiveUp(settlement.Lost[i].First, settlement.Lost[i].Last);
        }

        // What was answered meanwhile was refused.
        Region.AskAnew(stream);
    }

    private static void FinishIfDone(InboundStream stream, Settlement settlement)
    {
        if (stream.IsSenderGone && settlement.ReportedThrough < stream.Highest && stream.Contiguous >= stream.Highest
            && settlement.Stable >= settlement.HeldByAny && settlement.HeldByAny >= stream.Highest)
        {
            settlement.ReportedThrough = stream.Highest;
            stream.Finish();
        }
    }
}
