using QuickSilver.Core.Wire;
using QuickSilver.Multicast.Schemes;
using QuickSilver.Multicast.Stability.Tokens;

namespace QuickSilver.Multicast.Stability;

// What a member knows to be settled in the whole view of one sender's stream, from any token.
//
// A departed sender cannot supply packets, so the members decide together what of its stream is lost. The root's leader begins an epoch.
// In it each member reports what it cannot supply, and accepts nothing more until the decision has come, so that what it reported stays
// true. Packets that no member can supply are lost. A later epoch ends an earlier one.
//
// Invariants: (Epoch, IsDecided) only grows. A member that has reported what it cannot supply accepts nothing until a decision of that
// epoch or of a later one, even if the leader dies.
internal sealed class StreamSettlement
{
    private SequenceRanges? _lost;

    // All live members hold the packets up to here.
    public long Stable { get; set; }
    // The keepers of each packet up to here hold it.
    public long Replicated { get; set; }
    // Some member knows that the sender has sent packets up to here.
    public long HeldByAny { get; set; }
    // For a departed sender: how far the end of the stream was reported above. A member that learns of the removal later may supply more.
    public long ReportedThrough { get; set; } = -1;

    // For a departed sender: when a token last reported something that not all members hold or have consumed, or that is undecided.
    public TimeSpan UnsettledAt { get; set; }

    public ulong Epoch { get; set; }
    public bool IsDecided { get; set; }
    // The epoch decides about the packets up to here.
    public long Through { get; set; }
    // At the root: no new epoch begins before this time, so that repairs arrive between two epochs. The spacing grows while epochs find
    // nothing lost.
    public TimeSpan NextEpochAt { get; set; }
    public int IdleEpochs { get; set; }

    /// <summary>
    /// The rank that began the epoch. It is part of the number, so that two leaders of which one follows the other begin different epochs.
    /// A later leader took part in all epochs of the previous leader but perhaps the last, and has a higher rank, so its own epochs are
    /// later.
    /// </summary>
    public int EpochLeader => (int)(uint)Epoch - 1;

    /// <summary>
    /// At the root's leader: the latest epoch in which a member waits for a decision. It may be of a leader that was mistaken, or a lie
    /// (F22), and a member in it ignores the decisions of earlier ones.
    /// </summary>
    public ulong OpenElsewhere { get; set; }

    public bool IsUndecided => Epoch != 0 && !IsDecided;

    /// <summary>
    /// Whether the epoch's leader is no longer live. It may have decided, and notified some members or none. The next epoch decides; until
    /// then what was reported stays true.
    /// </summary>
    public bool IsAbandoned { get; set; }

    public bool IsGathering => IsUndecided && !IsAbandoned;

    public SequenceRanges Lost => _lost ??= new SequenceRanges(RecoveryRecord.MaxRanges);

    public ulong NextEpoch(int leader) => (((Math.Max(Epoch, OpenElsewhere) >> 32) + 1) << 32) | (uint)(leader + 1);
}

// What the last whole round of a ring has found about one sender, at the leader of the ring.
//
// Invariant: each value stays a lower bound forever, because members are only removed and what a member holds only grows. So a leader may
// report it in the ring above at any later time.
internal sealed class RingResult
{
    private SequenceRanges? _lacked;
    // The last epoch whose decision has gone around the ring.
    private ulong _decided;
    // The last packet that all members under the ring were known to lack.
    private long _lackedThrough;

    public long HeldByAll { get; set; }
    // The ranges that all members under the ring hold in addition, if ranges are reported.
    public SequenceRanges? HeldRanges { get; set; }
    public long ConsumedByAll { get; set; }
    public long ReadByAll { get; set; }
    public long ReplicatedByAll { get; set; }
    public long HeldByAny { get; set; }
    public int QuietRounds { get; set; }

    /// <summary>Whether the present round has begun with the record, and whether nothing was open then.</summary>
    public bool IsIncluded { get; set; }
    public bool IsQuiet { get; set; }

    /// <summary>The last cycle in which a token has brought the record back (<see cref="Rounds.RecordCycle"/>).</summary>
    public long Cycle { get; set; }
    public AggregateAck LastAck { get; set; }

    // The epoch in which all members of the ring reported what they cannot supply.
    public ulong Epoch { get; set; }
    // Whether a member could still hear the sender.
    public bool IsRefused { get; set; }

    public SequenceRanges Lacked => _lacked ??= new SequenceRanges(RecoveryRecord.MaxRanges);

    /// <summary>What none of the members under the ring held when the last round asked them; null before the first round.</summary>
    public UnheldPackets? Unheld { get; private set; }

    /// <summary>What the members reported about that was true at this time or later.</summary>
    public TimeSpan UnheldSince { get; private set; }

    /// <summary>All members under the ring hold and have consumed the packets up to here, and none knows of more.</summary>
    public void SettleThrough(long through)
    {
        HeldByAll = ConsumedByAll = ReadByAll = ReplicatedByAll = through;
        HeldByAny = Math.Max(HeldByAny, through);
    }

    public void TakeUnheld(UnheldPackets reported, TimeSpan roundBegan)
    {
        (Unheld ??= new UnheldPackets()).CopyFrom(reported);
        UnheldSince = roundBegan - reported.Age;
    }

    /// <summary>Returns true if all members under the ring lack a packet beyond those that they were known to lack.</summary>
    public bool NoteLacked(SequenceRanges lacked)
    {
        long last = lacked.IsEmpty ? 0 : lacked[lacked.Count - 1].Last;
        bool isNews = last > _lackedThrough;
        _lackedThrough = isNews ? last : _lackedThrough;
        return isNews;
    }

    /// <summary>Returns true if the round was the first to report a decision.</summary>
    public bool NoteDecision(RecoveryRecord record)
    {
        bool isNews = record.IsDecided && record.Epoch > _decided;
        _decided = isNews ? record.Epoch : _decided;
        return isNews;
    }
}
