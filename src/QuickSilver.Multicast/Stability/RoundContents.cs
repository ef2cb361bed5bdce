using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Schemes;
using QuickSilver.Multicast.Stability.Rounds;
using QuickSilver.Multicast.Stability.Tokens;

namespace QuickSilver.Multicast.Stability;

// The records of the token of one ring, at one of its members: one for each stream of which something is not settled.
//
//   Begin    the leader fills the token
//   Visit    each other member learns from it, and adds what it holds
//   End      the leader takes what all members under the ring hold, and acknowledges it or passes it to the ring above
//
// It has no state of its own: what it finds is in the results of the ring and in the records of the view.
internal readonly struct RoundContents(RingHierarchy rings, RingRepair repair, RingResults results, int level)
{
    // A stream of which nothing has changed is in so many rounds more, so that each member has seen its last values.
    private const int QuietRounds = 3;

    private bool IsRoot => level == rings.Shape.Levels - 1;

    /// <summary>At the leader: adds the streams of which something is open.</summary>
    public void Begin(Token token, in RecordCycle cycle)
    {
        // By index: an enumerator would be an object.
        for (int i = 0; i < rings.Region.Streams.Count; i++)
        {
            var stream = rings.Region.Streams[i];
            if (!stream.IsReliable)
            {
                continue;
            }

            var settlement = rings.Records.SettlementOf(stream.Key);
            var result = results.FindOrAdd(stream.Key);
            result.IsIncluded = false;
            // The last values must reach the ring above. If the sender has departed or is not heard here, no announcement asks again, and
            // a member that accepts the last packets later cannot report it.
            bool quiet = settlement.Stable >= Math.Max(stream.Highest, settlement.HeldByAny) && stream.IsDrained && !settlement.IsGathering
                && result.ConsumedByAll >= stream.Highest;
            if (!quiet)
            {
                result.QuietRounds = 0;
            }
            else if (result.QuietRounds >= QuietRounds)
            {
                continue;
            }

            if (IsRoot)
            {
                rings.Records.BeginEpochIfDue(stream, settlement);
            }

            var record = token.Add(stream.Key);
            (result.IsIncluded, result.IsQuiet) = (true, quiet);
            (record.IsOfDeparted, record.IsDone) = (stream.IsSenderGone, result.Cycle == cycle.Number);
            rings.Records.Report(settlement, record);
            rings.Records.Open(level, stream, settlement, record);
        }
    }

    /// <summary>At another member: takes what the members before have found, and adds what this one holds.</summary>
    public void Visit(Token token, NodeKey neighbour)
    {
        for (int i = 0; i < token.Count; i++)
        {
            var record = token[i];
            if (rings.Region.FindReported(record.Stream) is not { } stream)
            {
                // The record names a sender that this member does not know, and there are more of those than can exist: this member reports
                // nothing about them.
                record.HeldByAll = record.ConsumedByAll = record.ReadByAll = record.ReplicatedByAll = record.Unheld.KnownThrough = 0;
                record.IsPartial = true;
                continue;
            }

            record.IsOfDeparted = stream.IsSenderGone;
            var settlement = rings.Records.SettlementOf(record.Stream);
            if (rings.Records.Learn(record, settlement, stream) && level > 0)
            {
                rings.RecallBelow(level, record.Stream);
            }

            repair.Compare(stream, record, neighbour);
            rings.Records.Join(level, stream, settlement, record);
            rings.Records.NoteUnsettled(record, settlement, stream);
        }

        for (int i = 0; i < rings.Region.Streams.Count; i++)
        {
            var stream = rings.Region.Streams[i];
            if (stream.IsReliable && token.Find(stream.Key) is null && IsUnsettled(stream))
            {
                // The leader does not know of the stream, or that this member missed the rounds that settled it: this round reports it, and
                // the next round asks all members.
                var record = token.Add(stream.Key);
                record.IsOfDeparted = stream.IsSenderGone;
                rings.Records.Report(rings.Records.SettlementOf(stream.Key), record);
                record.HeldByAny = stream.Highest;
                record.IsPartial = true;
            }
        }
    }

    /// <summary>At the leader: takes what the round has found.</summary>
    /// <param name="token">The token, which has returned.</param>
    /// <param name="neighbour">The member that has sent it.</param>
    /// <param name="isWhole">Whether all members were visited, and none disputes who the members are.</param>
    /// <param name="began">When the round began.</param>
    /// <param name="cycle">The cycle of which the round is.</param>
    public RoundOutcome End(Token token, NodeKey neighbour, bool isWhole, TimeSpan began, ref RecordCycle cycle)
    {
        if (isWhole)
        {
            results.Take(token);
        }

        rings.NoteBusy(token);
        bool open = !isWhole;
        bool moved = false;
        bool wantAbove = false;
        bool isPartial = false;
        for (int i = 0; i < token.Count; i++)
        {
            var record = token[i];
            if (rings.Region.FindReported(record.Stream) is not { } stream)
            {
                isPartial = true;
                continue;
            }

            var settlement = rings.Records.SettlementOf(record.Stream);
            var result = results.FindOrAdd(record.Stream);
            if (result.IsIncluded && !record.IsPartial)
            {
                // One that was left out comes back, too, if another member lacks it, but then not all have added what they hold.
                result.Cycle = cycle.Number;
                result.QuietRounds += result.IsQuiet ? 1 : 0;
            }

            repair.Compare(stream, record, neighbour);
            RingRecords.Bound(record, stream);
            bool isNews = RingResults.Take(record, result, isWhole, began);
            rings.NoteResult(level, record.Stream, result.HeldByAll);
            moved |= isNews || result.NoteDecision(record);
            var lacked = repair.End(stream, record);
            rings.Records.NoteUnsettled(record, settlement, stream);
            if (IsRoot)
            {
                rings.Records.Settle(record, settlement, stream, isWhole);
                results.Acknowledge(record, settlement, result, lacked, isWhole);
            }
            else
            {
                wantAbove |= result.NoteLacked(lacked);
                rings.Records.Learn(record, settlement, stream);
                if (isNews)
                {
                    rings.RecallAbove(level, record.Stream);
                }
            }

            if (record.Stable < settlement.Stable || (record.IsGathering && !settlement.IsGathering))
            {
                // There is a new value or decision, or a member that no quiet round has reached yet: report it (again), or decide again.
                result.QuietRounds = 0;
            }

            open |= settlement.Stable < stream.Highest || settlement.IsGathering || record.ConsumedByAll < stream.Highest
                || result.QuietRounds < QuietRounds;
        }

        var (isOpen, hasMoved) = cycle.OnRound(IsLastOf(cycle), open, moved);
        return new RoundOutcome(isOpen, hasMoved, wantAbove, isPartial);
    }

    // Whether no record that the round began with is left to be brought back: those that had no room here or at a member on the way.
    private bool IsLastOf(in RecordCycle cycle)
    {
        for (int i = 0; i < rings.Region.Streams.Count; i++)
        {
            if (results.Find(rings.Region.Streams[i].Key) is { IsIncluded: true } result && result.Cycle != cycle.Number)
            {
                return false;
            }
        }

        return true;
    }

    private bool IsUnsettled(ITrackedStream stream) =>
        stream.Highest > stream.Stable || (stream.IsSenderGone && rings.Records.SettlementOf(stream.Key).IsGathering);
}

/// <summary>What a round has found.</summary>
/// <param name="IsOpen">Whether the next round may find more.</param>
/// <param name="HasMoved">Whether a value has changed in this cycle of rounds; null: that is not known yet.</param>
/// <param name="WantsAbove">Whether the ring above is to begin a round now.</param>
/// <param name="IsPartial">Whether a member knows of a stream that the leader cannot take up.</param>
internal readonly record struct RoundOutcome(bool IsOpen, bool? HasMoved, bool WantsAbove, bool IsPartial);
