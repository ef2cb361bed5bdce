using System.Buffers.Binary;
using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Schemes;

namespace QuickSilver.Multicast.Stability.Tokens;

// What the token of a ring reports about one stream (000, section 2). On the wire: u64 id, u32 incarnation, u8 flags, u8
// stream class, i64 stable, then as u32 offsets from it: held by all, consumed by all, read by all, held by any, known as held by any,
// replicated, replicated by all, through; u64 epoch; u8 counts of the neighbour's gaps, of the ranges that all lack (of a departed sender),
// and of those that none is known to hold; as u32 offsets: how far the neighbour's gaps and the unheld ranges are reported, and how far all
// know of the packets; u32 age of the unheld ranges in microseconds; each range as two u32 (offset, length). With flag 16, a u8 count and
// as many ranges follow: what all hold.
internal sealed class RecoveryRecord
{
    public const int FixedBytes = 81;
    public const int MaxRanges = UnheldPackets.MaxGaps;
    public const int MaxHeldRanges = 100;
    private const int RangeBytes = 8;

    // The offset of each field; the sender's id is first.
    private const int IncarnationOffset = 8;
    private const int FlagsOffset = 12;
    private const int ClassOffset = 13;
    private const int StableOffset = 14;
    private const int HeldByAllOffset = 22;
    private const int ConsumedByAllOffset = 26;
    private const int ReadByAllOffset = 30;
    private const int HeldByAnyOffset = 34;
    private const int KnownHeldByAnyOffset = 38;
    private const int ReplicatedOffset = 42;
    private const int ReplicatedByAllOffset = 46;
    private const int ThroughOffset = 50;
    private const int EpochOffset = 54;
    private const int GapsOffset = 62;
    private const int LackedOffset = 63;
    private const int UnheldOffset = 64;
    private const int NeighbourThroughOffset = 65;
    private const int UnheldThroughOffset = 69;
    private const int KnownThroughOffset = 73;
    private const int AgeOffset = 77;

    [Flags]
    private enum Flag : byte
    {
        None = 0,
        // The epoch is decided: what all members lack is lost.
        Decided = 1,
        // In this epoch each member reports what it cannot supply.
        Gathering = 2,
        // A member can still hear the sender.
        Refused = 4,
        // A ring below has not reported yet.
        Partial = 8,
        // The record has the ranges that all hold.
        Held = 16,
        // The neighbour's pulls have failed, so it wants its gaps pushed.
        PushWanted = 32,
    }

    public StreamKey Stream;
    // Known from the rings above: all live members of the view hold the packets up to Stable; all keepers hold theirs up to Replicated;
    // some member knows that the sender has sent packets up to KnownHeldByAny.
    public long Stable;
    public long Replicated;
    public long KnownHeldByAny;
    // The minima and the maximum of this round so far.
    public long HeldByAll;
    public long ConsumedByAll;
    // The packets up to here have left every member's socket, and wait for nothing but a repair.
    public long ReadByAll;
    public long ReplicatedByAll;
    public long HeldByAny;
    // For a departed sender: see StreamSettlement.
    public ulong Epoch;
    public long Through;
    public bool IsGathering;
    public bool IsDecided;
    public bool IsRefused;
    public bool IsPartial;
    public bool IsPushWanted;
    // Whether this member considers the sender departed. Not on the wire, as what follows.
    public bool IsOfDeparted;
    // At the leader: whether a token of the present cycle has brought the record back (RecordCycle).
    public bool IsDone;

    // What the seat before lacks, of the packets up to NeighbourThrough: a member, or at a higher level all members under the seat.
    public long NeighbourThrough;

    public SequenceRanges NeighbourGaps { get; } = new(MaxRanges);
    public SequenceRanges LackedByAll { get; } = new(1 << 16);

    // For a sender that can be asked: what none of the members of this round so far holds.
    public UnheldPackets Unheld { get; } = new();

    /// <summary>
    /// The packets not known to be stable that all members of this round so far hold, if ranges are reported (<see
    /// cref="Experiments.FeedbackRanges"/>); otherwise null.
    /// </summary>
    public SequenceRanges? HeldRanges { get; set; }

    public void Reset(StreamKey stream)
    {
        Stream = stream;
        Stable = Replicated = KnownHeldByAny = HeldByAll = ConsumedByAll = ReadByAll = ReplicatedByAll = HeldByAny = Through = 0;
        Epoch = 0;
        IsGathering = IsDecided = IsRefused = IsPartial = IsPushWanted = IsOfDeparted = IsDone = false;
        NeighbourThrough = 0;
        NeighbourGaps.Clear();
        LackedByAll.Clear();
        Unheld.Clear();
        HeldRanges = null;
    }

    /// <summary>Returns the number of bytes written, or 0 if the record does not fit even without gaps.</summary>
    public int Write(Span<byte> at)
    {
        if (at.Length < FixedBytes)
        {
            return 0;
        }

        int room = (at.Length - FixedBytes) / RangeBytes;
        int lacked = Math.Min(Math.Min(LackedByAll.Count, MaxRanges), room);
        int unheld = Math.Min(Math.Min(Unheld.Gaps.Count, MaxRanges), room - lacked);
        int gaps = Math.Min(Math.Min(NeighbourGaps.Count, MaxRanges), room - lacked - unheld);
        // A truncated list of what all lack decides less: ranges that are left out count as held. The others are reported less far.
        Unheld.Limit(unheld);
        long neighbourThrough = gaps < NeighbourGaps.Count ? NeighbourGaps[gaps].First - 1 : NeighbourThrough;
        var flags = (IsGathering ? Flag.Gathering : 0) | (IsDecided ? Flag.Decided : 0)
            | (IsRefused ? Flag.Refused : 0) | (IsPartial ? Flag.Partial : 0) | (IsPushWanted ? Flag.PushWanted : 0);
        bool reportsHeld = HeldRanges is not null && room > lacked + gaps + unheld;
        flags |= reportsHeld ? Flag.Held : 0;
        BinaryPrimitives.WriteUInt64LittleEndian(at, Stream.Sender.Id);
        BinaryPrimitives.WriteUInt32LittleEndian(at[IncarnationOffset..], Stream.Sender.Incarnation);
        at[FlagsOffset] = (byte)flags;
        at[ClassOffset] = Stream.Class.Value;
        BinaryPrimitives.WriteInt64LittleEndian(at[StableOffset..], Stable);
        Offset(at[HeldByAllOffset..], HeldByAll);
        Offset(at[ConsumedByAllOffset..], ConsumedByAll);
        Offset(at[ReadByAllOffset..], ReadByAll);
        Offset(at[HeldByAnyOffset..], HeldByAny);
        Offset(at[KnownHeldByAnyOffset..], KnownHeldByAny);
        Offset(at[ReplicatedOffset..], Replicated);
        Offset(at[ReplicatedByAllOffset..], ReplicatedByAll);
        Offset(at[ThroughOffset..], Through);
        BinaryPrimitives.WriteUInt64LittleEndian(at[EpochOffset..], Epoch);
        at[GapsOffset] = (byte)gaps;
        at[LackedOffset] = (byte)lacked;
        at[UnheldOffset] = (byte)unheld;
        Offset(at[NeighbourThroughOffset..], neighbourThrough);
        Offset(at[UnheldThroughOffset..], Unheld.Through);
        Offset(at[KnownThroughOffset..], Unheld.KnownThrough);
        BinaryPrimitives.WriteUInt32LittleEndian(at[AgeOffset..], (uint)Math.Min(Unheld.Age.TotalMicroseconds, uint.MaxValue));
        int used = FixedBytes;
        used += WriteRanges(at[used..], NeighbourGaps, gaps);
        used += WriteRanges(at[used..], LackedByAll, lacked);
        used += WriteRanges(at[used..], Unheld.Gaps, unheld);
        if (reportsHeld)
        {
            int held = Math.Min(Math.Min(HeldRanges!.Count, MaxHeldRanges), room - lacked - gaps - unheld - 1);
            at[used++] = (byte)held;
            used += WriteRanges(at[used..], HeldRanges, held);
        }

        return used;
    }

    /// <summary>Returns the number of bytes read, or 0 if the bytes are not a record.</summary>
    public int TryRead(ReadOnlySpan<byte> at)
    {
        if (at.Length < FixedBytes || new StreamClass(at[ClassOffset]) is not { IsKnown: true, IsReliable: true }
            || at[GapsOffset] > MaxRanges || at[LackedOffset] > MaxRanges || at[UnheldOffset] > MaxRanges
            || at.Length < FixedBytes + ((at[GapsOffset] + at[LackedOffset] + at[UnheldOffset]) * RangeBytes))
        {
            return 0;
        }

        var sender = new NodeKey(
            BinaryPrimitives.ReadUInt64LittleEndian(at), BinaryPrimitives.ReadUInt32LittleEndian(at[IncarnationOffset..]));
        Reset(new StreamKey(sender, new StreamClass(at[ClassOffset])));
        var flags = (Flag)at[FlagsOffset];
        IsGathering = (flags & Flag.Gathering) != 0;
        IsDecided = (flags & Flag.Decided) != 0;
        IsRefused = (flags & Flag.Refused) != 0;
        IsPartial = (flags & Flag.Partial) != 0;
        IsPushWanted = (flags & Flag.PushWanted) != 0;
        Stable = BinaryPrimitives.ReadInt64LittleEndian(at[StableOffset..]);
        if (Stable < 0 || Stable > long.MaxValue / 2)
        {
            return 0;
        }

        HeldByAll = Number(at[HeldByAllOffset..]);
        ConsumedByAll = Number(at[ConsumedByAllOffset..]);
        ReadByAll = Number(at[ReadByAllOffset..]);
        HeldByAny = Number(at[HeldByAnyOffset..]);
        KnownHeldByAny = Number(at[KnownHeldByAnyOffset..]);
        Replicated = Number(at[ReplicatedOffset..]);
        ReplicatedByAll = Number(at[ReplicatedByAllOffset..]);
        Through = Number(at[ThroughOffset..]);
        Epoch = BinaryPrimitives.ReadUInt64LittleEndian(at[EpochOffset..]);
        int used = FixedBytes;
        used += ReadRanges(at[used..], NeighbourGaps, at[GapsOffset]);
        used += ReadRanges(at[used..], LackedByAll, at[LackedOffset]);
        used += ReadRanges(at[used..], Unheld.Gaps, at[UnheldOffset]);
        NeighbourThrough = Number(at[NeighbourThroughOffset..]);
        Unheld.Through = Number(at[UnheldThroughOffset..]);
        Unheld.KnownThrough = Number(at[KnownThroughOffset..]);
        Unheld.Age = TimeSpan.FromMicroseconds(BinaryPrimitives.ReadUInt32LittleEndian(at[AgeOffset..]));
        if ((flags & Flag.Held) == 0)
        {
            return used;
        }

        if (at.Length <= used || at[used] > MaxHeldRanges || at.Length < used + 1 + (at[used] * RangeBytes))
        {
            return 0;
        }

        int count = at[used++];
        HeldRanges = new SequenceRanges(MaxHeldRanges * 2);
        return used + ReadRanges(at[used..], HeldRanges, count);
    }

    // A slow reader may keep consumption below Stable, so the offsets are signed.
    private void Offset(Span<byte> at, long number) =>
        BinaryPrimitives.WriteInt32LittleEndian(at, (int)Math.Clamp(number - Stable, int.MinValue, int.MaxValue));

    private long Number(ReadOnlySpan<byte> at) => Math.Max(0, Stable + BinaryPrimitives.ReadInt32LittleEndian(at));

    private int WriteRanges(Span<byte> at, SequenceRanges ranges, int count)
    {
        for (int i = 0; i < count; i++)
        {
            var (first, last) = ranges[i];
            BinaryPrimitives.WriteInt32LittleEndian(at[(i * RangeBytes)..], (int)Math.Clamp(first - Stable, int.MinValue, int.MaxValue));
            BinaryPrimitives.WriteUInt32LittleEndian(at[((i * RangeBytes) + 4)..], (uint)Math.Min(last - first + 1, uint.MaxValue));
        }

        return count * RangeBytes;
    }

    private int ReadRanges(ReadOnlySpan<byte> at, SequenceRanges into, int count)
    {
        for (int i = 0; i < count; i++)
        {
            long first = Number(at[(i * RangeBytes)..]);
            long length = BinaryPrimitives.ReadUInt32LittleEndian(at[((i * RangeBytes) + 4)..]);
            if (first > 0 && length > 0)
            {
                into.Add(first, first + length - 1);
            }
        }

        return count * RangeBytes;
    }
}
