using QuickSilver.Core.Wire;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Schemes;
using QuickSilver.Multicast.Stability.Tokens;

namespace QuickSilver.Multicast.Stability;

// How a member processes the records of tokens; it does the same at all levels. It reports what is settled, learns what is settled, and
// adds what its seat holds. A seat of level 0 holds what this member has received. A seat above holds what the ring below has found in its
// last whole round.
//
// Invariant: nothing in a record that concerns all members exceeds what this member knows of itself or of the ring below it.
internal sealed class RingRecords(RingHierarchy rings)
{
    private const int MostIdleEpochs = 4;
    // The limit of epochs by which a record may be ahead. So many do not begin before a node learns of one.
    private const ulong MostEpochsAhead = 1 << 16;

    private readonly Dictionary<StreamKey, StreamSettlement> _settlements = [];
    private readonly SequenceRanges _unsupplied = new(RecoveryRecord.MaxRanges);

    public StreamSettlement SettlementOf(StreamKey stream)
    {
        if (!_settlements.TryGetValue(stream, out var settlement))
        {
            settlement = new StreamSettlement { UnsettledAt = rings.Context.Environment.Now };
            _settlements.Add(stream, settlement);
        }

        return settlement;
    }

    /// <summary>
    /// At the root's leader, after a round: whether all members hold all that any of them knows of the streams of departed senders, and
    /// nothing of those is undecided.
    /// </summary>
    public bool AreDepartedSettled()
    {
        for (int i = 0; i < rings.Region.Streams.Count; i++)
        {
            var stream = rings.Region.Streams[i];
            if (stream.IsReliable && stream.IsSenderGone && !IsSettled(stream, SettlementOf(stream.Key)))
            {
                return false;
            }
        }

        return true;
    }

    /// <summary>Whether the stream of a departed sender is settled, and since when, as far as tokens have reported.</summary>
    public bool TryFinish(ITrackedStream stream, out TimeSpan settledSince)
    {
        var settlement = SettlementOf(stream.Key);
        if (settlement.ReportedThrough < stream.Highest)
        {
            // The last token that had a record of the stream was here before this member learnt that the sender is gone.
            settlement.UnsettledAt = rings.Context.Environment.Now;
            FinishIfDone(stream, settlement);
        }

        settledSince = settlement.UnsettledAt;
        return IsSettled(stream, settlement) && settlement.ReportedThrough >= Math.Max(stream.Highest, settlement.HeldByAny);
    }

    private static bool IsSettled(ITrackedStream stream, StreamSettlement settlement) =>
        settlement.Stable >= Math.Max(stream.Highest, settlement.HeldByAny) && !settlement.IsUndecided
        && settlement.OpenElsewhere <= settlement.Epoch;

    /// <summary>Notes when a token reports that the stream of a departed sender is not settled.</summary>
    public void NoteUnsettled(RecoveryRecord record, StreamSettlement settlement, ITrackedStream stream)
    {
        if (!stream.IsSenderGone)
        {
            return;
        }

        long highest = Math.Max(record.HeldByAny, record.KnownHeldByAny);
        if (record.IsGathering || record.IsPartial || record.Stable < highest || record.ConsumedByAll < highest)
        {
            settlement.UnsettledAt = rings.Context.Environment.Now;
        }
    }

    /// <summary>
    /// Returns the settlement if there was a decision: its number, and what it said, must not change if the stream is resumed.
    /// </summary>
    public StreamSettlement? Forget(StreamKey stream) =>
        _settlements.Remove(stream, out var settlement) && settlement.Epoch != 0 ? settlement : null;

    public void Resume(ITrackedStream stream, StreamSettlement? decided)
    {
        var settlement = decided ?? new StreamSettlement();
        settlement.Stable = settlement.Replicated = settlement.HeldByAny = settlement.ReportedThrough = stream.Highest;
        settlement.UnsettledAt = rings.Context.Environment.Now;
        _settlements[stream.Key] = settlement;
    }

    /// <summary>
    /// Abandons the epochs of leaders that are no longer live. Such an epoch may have been decided or not: the next epoch decides.
    /// </summary>
    public void OnMembersChanged()
    {
        foreach (var settlement in _settlements.Values)
        {
            settlement.IsAbandoned |= settlement.IsGathering && !rings.Live.IsLive(settlement.EpochLeader);
        }
    }

    /// <summary>At the root's leader: begins an epoch for a stream that a departed sender has left unsettled.</summary>
    public void BeginEpochIfDue(ITrackedStream stream, StreamSettlement settlement)
    {
        long through = Math.Max(settlement.HeldByAny, stream.Highest);
        bool isOpen = settlement.Stable < through || settlement.OpenElsewhere > settlement.Epoch;
        if (!stream.IsSenderGone || settlement.IsGathering || !isOpen || rings.Context.Environment.Now < settlement.NextEpochAt)
        {
            return;
        }

        EndDecided(stream, settlement);
        settlement.Epoch = settlement.NextEpoch(rings.SelfRank);
        settlement.IsDecided = settlement.IsAbandoned = false;
        settlement.Through = through;
    }

    /// <summary>Writes what is known to be settled into the record.</summary>
    public void Report(StreamSettlement settlement, RecoveryRecord record)
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
            UnheldPackets.Copy(settlement.Lost, record.LackedByAll);
        }
    }

    /// <summary>Learns what the record reports as settled. Returns true if some of it is new.</summary>
    public bool Learn(RecoveryRecord record, StreamSettlement settlement, ITrackedStream stream)
    {
        // This includes what the round has found so far: that a packet was sent is true regardless of who reported it.
        long heldByAny = stream.Believable(Math.Max(record.KnownHeldByAny, record.HeldByAny));
        // What all members hold, this member holds too. A member that was left out of the round does not count, and does not need the
        // packets.
        long stable = Math.Min(record.Stable, stream.Contiguous);
        long replicated = stream.Believable(record.Replicated);
        bool isNews = stable > settlement.Stable || replicated > settlement.Replicated || heldByAny > settlement.HeldByAny;
        settlement.Stable = Math.Max(settlement.Stable, stable);
        settlement.Replicated = Math.Max(settlement.Replicated, replicated);
        settlement.HeldByAny = Math.Max(settlement.HeldByAny, heldByAny);
        stream.OnAnnounced(settlement.HeldByAny);
        rings.Region.NoteGap(stream);
        bool isLater = IsLater(record, settlement);
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
                UnheldPackets.Copy(record.LackedByAll, settlement.Lost);
                Decided(stream, settlement);
            }
        }

        stream.SetStable(settlement.Stable, settlement.Replicated);
        FinishIfDone(stream, settlement);
        return isNews;
    }

    /// <summary>
    /// Limits what concerns all members to what this member holds, whatever others wrote into the record on its way (F22).
    /// </summary>
    public static void Bound(RecoveryRecord record, ITrackedStream stream)
    {
        record.HeldByAll = Math.Min(record.HeldByAll, stream.Contiguous);
        record.ConsumedByAll = Math.Min(record.ConsumedByAll, stream.Consumed);
        record.ReadByAll = Math.Min(record.ReadByAll, stream.Highest);
        record.ReplicatedByAll = Math.Min(record.ReplicatedByAll, stream.KeptContiguous);
        record.HeldByAny = stream.Believable(record.HeldByAny);
    }

    /// <summary>At the root's leader: settles the stream when a round is over.</summary>
    public void Settle(RecoveryRecord record, StreamSettlement settlement, ITrackedStream stream, bool isWhole)
    {
        long before = settlement.Stable;
        settlement.HeldByAny = Math.Max(settlement.HeldByAny, record.HeldByAny);
        if (record.IsGathering && IsLater(record, settlement))
        {
            settlement.OpenElsewhere = Math.Max(settlement.OpenElsewhere, record.Epoch);
        }

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
                UnheldPackets.Copy(record.LackedByAll, settlement.Lost);
            }

            settlement.IdleEpochs = settlement.Lost.Count > 0 ? 0 : Math.Min(settlement.IdleEpochs + 1, MostIdleEpochs);
            settlement.NextEpochAt = rings.Context.Environment.Now + (rings.Context.Options.EpochSpacing * (1 << settlement.IdleEpochs));
            Decided(stream, settlement);
        }

        stream.SetStable(settlement.Stable, settlement.Replicated);
        FinishIfDone(stream, settlement);
        if (settlement.Stable > before || record.Stable < settlement.Stable || settlement.HeldByAny > record.KnownHeldByAny)
        {
            rings.RecallBelow(rings.Shape.Levels - 1, record.Stream);
        }
    }

    /// <summary>
    /// Writes what none of the members under this member's seat holds: at level 0 what the member lacks; above, what the last round of the
    /// ring below has found, without what has reached its leader since.
    /// </summary>
    public void ReportUnheld(int level, ITrackedStream stream, UnheldPackets seat)
    {
        seat.Clear();
        if (stream.IsSenderGone)
        {
            // The members decide in epochs about what a departed sender has left.
            return;
        }

        seat.Set(stream.Missing, stream.Arrived);
        if (level == 0)
        {
            return;
        }

        if (rings.Rings[level - 1].FindResult(stream.Key) is not { Unheld: { } below } result)
        {
            seat.Clear();
            return;
        }

        var age = rings.Context.Environment.Now - result.UnheldSince;
        if (age > rings.Context.Options.TokenTimeout)
        {
            // The ring below does not turn, because a member in it is silent. The others do not wait for it: at worst the sender sends
            // to all what a member of this ring holds.
            seat.Clear();
            seat.KnownThrough = long.MaxValue;
            return;
        }

        seat.IntersectWith(below);
        seat.LimitToKnown();
        seat.Age = age;
    }

    /// <summary>Writes the leader's part, which is the first.</summary>
    public void Open(int level, ITrackedStream stream, StreamSettlement settlement, RecoveryRecord record)
    {
        OpenUnheld(level, stream, settlement, record);
        record.HeldByAll = record.ConsumedByAll = record.ReadByAll = record.ReplicatedByAll = long.MaxValue;
        Merge(level, stream, record);
        record.HeldRanges = Held(level, stream, record.Stable);
        if (record.IsGathering)
        {
            var own = Unsupplied(level, stream, settlement, record);
            if (own is not null)
            {
                UnheldPackets.Copy(own, record.LackedByAll);
            }
        }
    }

    /// <summary>Adds the part of a seat, of which the token has what it does not hold.</summary>
    public void Join(int level, ITrackedStream stream, StreamSettlement settlement, RecoveryRecord record)
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

        record.Unheld.IntersectWith(rings.Token.Seat);
        SignAsNeighbour(stream, record);
    }

    // A packet that all members of the ring lacked and that has reached its leader since counts as unheld until another member holds it
    // too: no member asks for it meanwhile, and the leader sends it to all of them (RingRepair).
    private void OpenUnheld(int level, ITrackedStream stream, StreamSettlement settlement, RecoveryRecord record)
    {
        var seat = rings.Token.Seat;
        ReportUnheld(level, stream, seat);
        record.Unheld.CopyFrom(seat);
        if (!stream.IsSenderGone && rings.Rings[level].FindResult(stream.Key)?.Unheld is { } earlier)
        {
            record.Unheld.Continue(earlier, settlement.Stable);
            seat.AddGapsOf(record.Unheld);
        }

        SignAsNeighbour(stream, record);
    }

    private void Merge(int level, ITrackedStream stream, RecoveryRecord record)
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

        var below = rings.Rings[level - 1].FindResult(stream.Key);
        record.HeldByAll = Math.Min(record.HeldByAll, below?.HeldByAll ?? 0);
        record.ConsumedByAll = Math.Min(record.ConsumedByAll, below?.ConsumedByAll ?? 0);
        record.ReadByAll = Math.Min(record.ReadByAll, below?.ReadByAll ?? 0);
        record.ReplicatedByAll = Math.Min(record.ReplicatedByAll, below?.ReplicatedByAll ?? 0);
        record.HeldByAny = Math.Max(record.HeldByAny, Math.Max(below?.HeldByAny ?? 0, stream.Highest));
    }

    // A copy of the ranges that the seat holds; null if ranges are not reported.
    private SequenceRanges? Held(int level, ITrackedStream stream, long stable)
    {
        if (rings.Context.Options.Experiments.FeedbackRanges <= 1)
        {
            return null;
        }

        var held = new SequenceRanges(Math.Min(rings.Context.Options.Experiments.FeedbackRanges, RecoveryRecord.MaxHeldRanges));
        if (level == 0)
        {
            if (stable < stream.Highest)
            {
                stream.Missing.AddMissing(stable + 1, stream.Highest, held);
            }
        }
        else if (rings.Rings[level - 1].FindResult(stream.Key)?.HeldRanges is { } below)
        {
            UnheldPackets.Copy(below, held);
        }

        return held;
    }

    // What no member in this seat can supply. If it cannot be reported, the result is null and the record is marked. After that the seat
    // accepts nothing of the stream until the decision, so that what was reported stays true.
    private SequenceRanges? Unsupplied(int level, ITrackedStream stream, StreamSettlement settlement, RecoveryRecord record)
    {
        if (level > 0)
        {
            var below = rings.Rings[level - 1].FindResult(stream.Key);
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

    private void SignAsNeighbour(ITrackedStream stream, RecoveryRecord record)
    {
        // This member would refuse what the neighbour pushes while a decision is open. Without this condition it would be pushed at each
        // token for as long as the members do not agree on which nodes have departed.
        record.IsPushWanted = !stream.IsRefusing && stream.Missing.Count > 0 && rings.Region.NeedsNeighbourPush(stream);
        var seat = rings.Token.Seat;
        if (!stream.IsSenderGone)
        {
            UnheldPackets.Copy(seat.Gaps, record.NeighbourGaps);
        }
        else if (record.IsPushWanted)
        {
            UnheldPackets.Copy(stream.Missing, record.NeighbourGaps);
        }
        else
        {
            record.NeighbourGaps.Clear();
        }

        record.NeighbourThrough = seat.Through;
    }

    // An epoch begins while another one is open: what this member reported in the earlier one need not stay true.
    private static void EndDecided(ITrackedStream stream, StreamSettlement settlement)
    {
        if (!settlement.IsUndecided)
        {
            stream.EndDecision();
        }
    }

    private static bool IsLater(RecoveryRecord record, StreamSettlement settlement) =>
        record.Epoch > settlement.Epoch && (record.Epoch >> 32) - (settlement.Epoch >> 32) <= MostEpochsAhead;

    private void Decided(ITrackedStream stream, StreamSettlement settlement)
    {
        stream.EndDecision();
        for (int i = 0; i < settlement.Lost.Count; i++)
        {
            stream.GiveUp(settlement.Lost[i].First, settlement.Lost[i].Last);
        }

        // Packets that came during the decision were refused.
        rings.Region.AskAnew(stream);
    }

    private static void FinishIfDone(ITrackedStream stream, StreamSettlement settlement)
    {
        if (stream.IsSenderGone && settlement.ReportedThrough < stream.Highest && stream.Contiguous >= stream.Highest
            && settlement.Stable >= settlement.HeldByAny && settlement.HeldByAny >= stream.Highest)
        {
            settlement.ReportedThrough = stream.Highest;
            stream.Finish();
        }
    }
}
