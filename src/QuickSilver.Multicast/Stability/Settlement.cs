using QuickSilver.Core.Wire;

namespace QuickSilver.Multicast.Stability;

// What a member knows to be settled in the whole view of one sender's stream, whichever token told it.
//
// Of a sender that is gone nobody can be asked, so the members decide together what is lost: the root's leader begins an epoch;
// in it each member tells what it cannot supply and takes nothing more until the decision has come, so that what it told stays
// true; what none can supply is lost. A later epoch ends an earlier one. Invariant: (Epoch, IsDecided) only grows.
// Who told what it cannot supply takes nothing until a decision, of that epoch or of a later one, even if the leader dies.
internal sealed class Settlement
{
    private SequenceRanges? _lost;

    // All live members hold the packets up to here.
    public long Stable { get; set; }
    // The members that keep a packet hold all theirs up to here.
    public long Replicated { get; set; }
    // Some member knows that the sender sent up to here.
    public long HeldByAny { get; set; }
    // Of a sender that is gone: up to where those above were told. A member that heard of the removal later may bring more.
    public long ReportedThrough { get; set; } = -1;

    public ulong Epoch { get; set; }
    public bool IsDecided { get; set; }
    // The epoch is about the packets up to here.
    public long Through { get; set; }
    // At the root: no new epoch before, so that repairs get through between two; longer when epochs found nothing lost.
    public TimeSpan NextEpochAt { get; set; }
    public int IdleEpochs { get; set; }

    /// <summary>
    /// The rank that began the epoch. It is in the number, so that two leaders of which one follows the other begin different
    /// ones; a later leader took part in all epochs of the one before but the last, and has a higher rank, so its own are later.
    /// </summary>
    public int EpochLeader => (int)(uint)Epoch - 1;

    public bool IsUndecided => Epoch != 0 && !IsDecided;

    /// <summary>
    /// The epoch's leader is gone: it may have decided and told some, or none. The next epoch decides; until then what was told
    /// stays true.
    /// </summary>
    public bool IsAbandoned { get; set; }

    public bool IsGathering => IsUndecided && !IsAbandoned;

    public SequenceRanges Lost => _lost ??= new SequenceRanges(RecoveryRecord.MaxRanges);

    public ulong NextEpoch(int leader) => (((Epoch >> 32) + 1) << 32) | (uint)(leader + 1);
}

// What the last whole round of a ring has found of one sender, at the ring's leader. Each of these is a lower bound for ever, as
// members are only removed and what a member holds only grows; so a leader may tell it in the ring above at any later time.
internal sealed class RingResult
{
    private SequenceRanges? _lacked;
    // The last epoch whose decision has gone round.
    private ulong _decided;

    public long HeldByAll { get; set; }
    // What all under the ring hold beyond, where that is told.
    public SequenceRanges? HeldRanges { get; set; }
    public long ConsumedByAll { get; set; }
    public long ReadByAll { get; set; }
    public long ReplicatedByAll { get; set; }
    public long HeldByAny { get; set; }
    public int QuietRounds { get; set; }
    public AggregateAck LastAck { get; set; }

    // The epoch in which all members of the ring told what they cannot supply.
    public ulong Epoch { get; set; }
    // A member could still hear the sender.
    public bool IsRefused { get; set; }

    public SequenceRanges Lacked => _lacked ??= new SequenceRanges(RecoveryRecord.MaxRanges);

    /// <summary>True when the round was the first to tell of a decision.</summary>
    public bool NoteDecision(RecoveryRecord record)
    {
        bool isNews = record.IsDecided && record.Epoch > _decided;
        _decided = isNews ? record.Epoch : _decided;
        return isNews;
    }
}
