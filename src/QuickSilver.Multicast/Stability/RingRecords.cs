using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Receiving;

namespace QuickSilver.Multicast.Stability;

// What a member does with the records of tokens, the same at all levels: tells what is settled, learns it, and adds what its seat holds.
// A seat of level 0 holds what this member has received. A seat above holds what the ring below has found in its last whole round.
//
// Invariant: nothing in a record that is about all members exceeds what this member knows of itself or of the ring below it.
internal sealed class RingRecords(RingHierarchy rings)
{
    private const int MostIdleEpochs = 4;
    // So many are not begun while a node does not hear of one.
    private const ulong MostEpochsAhead = 1 << 16;

    private readonly Dictionary<NodeKey, Settlement> _settlements = [];
    private readonly SequenceRanges _unsupplied = new(RecoveryRecord.MaxRanges);

    public static void Copy(SequenceRanges from, SequenceRanges into)
    {
        into.Clear();
        for (int i = 0; i < from.Count && i < RecoveryRecord.MaxRanges; i++)
        {
            into.Add(from[i].First, from[i].Last);
        }
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

    /// <summary>An epoch whose leader is gone may have been decided, or not: the next one decides.</summary>
    public void OnMembersChanged()
    {
        foreach (var settlement in _settlements.Values)
        {
            settlement.IsAbandoned |= settlement.IsGathering && !rings.Live.IsLive(settlement.EpochLeader);
        }
    }

    /// <summary>At the root's leader: what a sender that is gone has left open is decided about.</summary>
    public void BeginEpochIfDue(InboundStream stream, Settlement settlement)
    {
        long through = Math.Max(settlement.HeldByAny, stream.Highest);
        if (!stream.IsSenderGone || settlement.IsGathering || settlement.Stable >= through
            || rings.Context.Environment.Now < settlement.NextEpochAt)
        {
            return;
        }

        EndDecided(stream, settlement);
        settlement.Epoch = settlement.NextEpoch(rings.SelfRank);
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
        rings.Region.NoteGap(stream);
        bool isLater = record.Epoch > settlement.Epoch && (record.Epoch >> 32) - (settlement.Epoch >> 32) <= MostEpochsAhead;
        if (record.IsDecided ? isLater || (record.Epoch == settlement.Epoch && !settlement.IsDecided) : isLater && record.IsGathering)
        {
            isNews = true;
            EndDecided(stream, settlement);
            settlement.Epoch = record.Epoch;
            settlement.Through = record.Through;
            settlement.IsDecided = record.IsDecided;
            settlement.IsAbandoned = !record.IsDecided && !rings.Live.IsLive(settlement.EpochLeader);
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
        rings.Region.NoteGap(stream);
        if (isWhole && settlement.IsGathering && record.IsGathering && record.Epoch == settlement.Epoch && !record.IsPartial)
        {
            settlement.IsDecided = true;
            settlement.Lost.Clear();
            if (!record.IsRefused)
            {
                Copy(record.LackedByAll, settlement.Lost);
            }

            settlement.IdleEpochs = settlement.Lost.Count > 0 ? 0 : Math.Min(settlement.IdleEpochs + 1, MostIdleEpochs);
            settlement.NextEpochAt = rings.Context.Environment.Now + (rings.Context.Options.EpochSpacing * (1 << settlement.IdleEpochs));
            Decided(stream, settlement);
        }

        stream.SetStable(settlement.Stable, settlement.Replicated);
        FinishIfDone(stream, settlement);
        if (settlement.Stable > before || record.Stable < settlement.Stable || settlement.HeldByAny > record.KnownHeldByAny)
        {
            rings.RecallBelow(rings.Shape.Levels - 1, record.Sender);
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

        var below = rings.Rings[level - 1].FindResult(stream.Sender);
        record.HeldByAll = Math.Min(record.HeldByAll, below?.HeldByAll ?? 0);
        record.ConsumedByAll = Math.Min(record.ConsumedByAll, below?.ConsumedByAll ?? 0);
        record.ReadByAll = Math.Min(record.ReadByAll, below?.ReadByAll ?? 0);
        record.ReplicatedByAll = Math.Min(record.ReplicatedByAll, below?.ReplicatedByAll ?? 0);
        record.HeldByAny = Math.Max(record.HeldByAny, Math.Max(below?.HeldByAny ?? 0, stream.Highest));
    }

    // A copy of what the seat holds; null where it is not told in ranges.
    private SequenceRanges? Held(int level, InboundStream stream, long stable)
    {
        if (rings.Context.Options.FeedbackRanges <= 1)
        {
            return null;
        }

        var held = new SequenceRanges(Math.Min(rings.Context.Options.FeedbackRanges, RecoveryRecord.MaxHeldRanges));
        if (level == 0)
        {
            if (stable < stream.Highest)
            {
                stream.Missing.AddMissing(stable + 1, stream.Highest, held);
            }
        }
        else if (rings.Rings[level - 1].FindResult(stream.Sender)?.HeldRanges is { } below)
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
            var below = rings.Rings[level - 1].FindResult(stream.Sender);
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
        if (!stream.IsRefusing && rings.Region.NeedsNeighbourPush(stream))
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
        rings.Region.AskAnew(stream);
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
