using System.Buffers.Binary;
using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;

namespace QuickSilver.Multicast.Recovery;

// What the token says of one sender's stream (DESIGN 6; the paper's section 2). On the wire: u64 id, u32 incarnation,
// u8 flags, i64 stable, then as u32 offsets from it: held by all, consumed by all, read by all, held by any, held by any a
// round ago, the neighbour's contiguous; u8 count of the neighbour's gaps, u8 count of what all lack; each gap as two u32 (offset,
// length).
internal sealed class RecoveryRecord
{
    public const int FixedBytes = 47;
    public const int MaxRanges = 20;
    private const int RangeBytes = 8;

    [Flags]
    private enum Flag : byte
    {
        None = 0,
        // The sender is gone and what all lack was decided in a whole round: it is lost.
        Decided = 1,
        // The lists of what all lack is being gathered in this round.
        Gathering = 2,
    }

    public NodeKey Sender;
    // The last round's result: all live members hold the packets up to here.
    public long Stable;
    // This round's minima and maximum so far.
    public long HeldByAll;
    public long ConsumedByAll;
    // Came out of every member's socket, and waits for nothing but a repair.
    public long ReadByAll;
    public long HeldByAny;
    // The last round's maximum: all learn that these numbers exist.
    public long PreviousHeldByAny;
    // The neighbour that passed the token on.
    public long NeighbourContiguous;
    public bool IsGathering;
    public bool IsDecided;

    public SequenceRanges NeighbourGaps { get; } = new(MaxRanges);
    public SequenceRanges LackedByAll { get; } = new(1 << 16);

    public void Reset(NodeKey sender)
    {
        Sender = sender;
        Stable = HeldByAll = ConsumedByAll = ReadByAll = HeldByAny = PreviousHeldByAny = NeighbourContiguous = 0;
        IsGathering = IsDecided = false;
        NeighbourGaps.Clear();
        LackedByAll.Clear();
    }

    /// <summary>Bytes written, or 0 when the record does not fit even without gaps.</summary>
    public int Write(Span<byte> at)
    {
        if (at.Length < FixedBytes)
        {
            return 0;
        }

        int room = (at.Length - FixedBytes) / RangeBytes;
        int lacked = Math.Min(Math.Min(LackedByAll.Count, MaxRanges), room);
        int gaps = Math.Min(Math.Min(NeighbourGaps.Count, MaxRanges), room - lacked);
        // A list cut short must not decide anything: what was left out would count as held.
        var flags = (IsGathering ? Flag.Gathering : 0) | (IsDecided ? Flag.Decided : 0);
        BinaryPrimitives.WriteUInt64LittleEndian(at, Sender.Id);
        BinaryPrimitives.WriteUInt32LittleEndian(at[8..], Sender.Incarnation);
        at[12] = (byte)flags;
        BinaryPrimitives.WriteInt64LittleEndian(at[13..], Stable);
        Offset(at[21..], HeldByAll);
        Offset(at[25..], ConsumedByAll);
        Offset(at[29..], ReadByAll);
        Offset(at[33..], HeldByAny);
        Offset(at[37..], PreviousHeldByAny);
        Offset(at[41..], NeighbourContiguous);
        at[45] = (byte)gaps;
        at[46] = (byte)lacked;
        int used = FixedBytes;
        used += WriteRanges(at[used..], NeighbourGaps, gaps);
        used += WriteRanges(at[used..], LackedByAll, lacked);
        return used;
    }

    /// <summary>Bytes read, or 0 when the bytes hold no record.</summary>
    public int TryRead(ReadOnlySpan<byte> at)
    {
        if (at.Length < FixedBytes || at[45] > MaxRanges || at[46] > MaxRanges
            || at.Length < FixedBytes + ((at[45] + at[46]) * RangeBytes))
        {
            return 0;
        }

        Reset(new NodeKey(BinaryPrimitives.ReadUInt64LittleEndian(at), BinaryPrimitives.ReadUInt32LittleEndian(at[8..])));
        var flags = (Flag)at[12];
        IsGathering = (flags & Flag.Gathering) != 0;
        IsDecided = (flags & Flag.Decided) != 0;
        Stable = BinaryPrimitives.ReadInt64LittleEndian(at[13..]);
        if (Stable < 0 || Stable > long.MaxValue / 2)
        {
            return 0;
        }

        HeldByAll = Number(at[21..]);
        ConsumedByAll = Number(at[25..]);
        ReadByAll = Number(at[29..]);
        HeldByAny = Number(at[33..]);
        PreviousHeldByAny = Number(at[37..]);
        NeighbourContiguous = Number(at[41..]);
        int used = FixedBytes;
        used += ReadRanges(at[used..], NeighbourGaps, at[45]);
        used += ReadRanges(at[used..], LackedByAll, at[46]);
        return used;
    }

    // Consumption may lie behind Stable (a slow reader), so offsets are signed around it.
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
