using System.Numerics;
using QuickSilver.Core.Buffers;
using QuickSilver.Core.Transport;
using QuickSilver.Membership.Views;

namespace QuickSilver.Multicast.Sending;

internal struct RetainedPacket
{
    public Lease? Lease;
    public int Offset;
    public int Length;
    public TimeSpan LastRepair;
    // How many packets had been sent after it when it was last sent again: that went behind them.
    private int _behind;
    // A mark of whom it was last sent to.
    private ushort _repairedFor;
    // The last time to all, as several had asked.
    public bool IsRepairedForAll;

    /// <summary>It was sent again for one who asked, or for all.</summary>
    public void NoteRepair(TimeSpan now, in RepairAsker asker, bool forAll, int behind)
    {
        LastRepair = now;
        IsRepairedForAll = forAll;
        _repairedFor = asker.Mark;
        _behind = behind;
    }

    /// <summary>Whether it was last sent again for this one alone.</summary>
    public readonly bool WasRepairedFor(in RepairAsker asker) =>
        LastRepair != TimeSpan.MinValue && !IsRepairedForAll && _repairedFor == asker.Mark;

    /// <summary>
    /// Whether who asks may still get what was last sent again: until it knows of a packet that was sent before that. One that does
    /// not say what it knows of is not made to wait.
    /// </summary>
    public readonly bool MayComeTo(in RepairAsker asker, long number) =>
        asker.Known > 0 && asker.Known < number + _behind && (IsRepairedForAll || WasRepairedFor(asker));
}

// Who asks for packets, where it is, and up to where it knows the stream to have been sent.
internal readonly record struct RepairAsker(NodeKey Node, DatagramAddress Address, long Known)
{
    public ushort Mark => (ushort)Node.Id;
}

// The packets of one outbound stream from the oldest that is not stable to the newest packed: the packets themselves, no
// copy. Numbers are dense, so a ring indexed by number does. Bytes are accounted to the node's retention budget.
internal sealed class RetentionBuffer(RetentionBudget budget)
{
    private RetainedPacket[] _ring = new RetainedPacket[64];

    // First: the oldest kept. Next: the number the next packet gets.
    public long First { get; private set; } = 1;

    public long Next { get; private set; } = 1;

    public long Last => Next - 1;

    /// <summary>Of the numbers from First on, those whose packets are gone already.</summary>
    public long ReleasedEarly { get; private set; }

    public bool Contains(long sequence) => sequence >= First && sequence < Next;

    /// <summary>
    /// The longest run from this packet on, of so many at most: adjacent in one block and of equal length, but the last may be shorter.
    /// </summary>
    public (int Count, int Bytes) RunFrom(long first, int most)
    {
        ref var head = ref this[first];
        int bytes = head.Length;
        int count = 1;
        while (count < most)
        {
            ref var next = ref this[first + count];
            if (next.Lease != head.Lease || next.Offset != head.Offset + bytes || next.Length > head.Length)
            {
                break;
            }

            bytes += next.Length;
            count++;
            if (next.Length < head.Length)
            {
                break;
            }
        }

        return (count, bytes);
    }

    public ref RetainedPacket this[long sequence] => ref _ring[sequence & (_ring.Length - 1)];

    public void Append(Lease lease, int offset, int length)
    {
        if (Next - First == _ring.Length)
        {
            Grow();
        }

        lease.AddClaim();
        ref var packet = ref this[Next];
        packet = new RetainedPacket { Lease = lease, Offset = offset, Length = length, LastRepair = TimeSpan.MinValue };
        budget.Bytes += length;
        Next++;
    }

    public void ReleaseThrough(long sequence)
    {
        long through = Math.Min(sequence, Last);
        while (First <= through)
        {
            ref var packet = ref this[First];
            ReleasedEarly -= packet.Lease is null ? 1 : 0;
            Release(ref packet);
            First++;
        }
    }

    /// <summary>Releases packets though some before them are still kept.</summary>
    public void Release(long first, long last)
    {
        for (long n = Math.Max(first, First); n <= Math.Min(last, Last); n++)
        {
            ref var packet = ref this[n];
            ReleasedEarly += packet.Lease is null ? 0 : 1;
            Release(ref packet);
        }
    }

    private void Release(ref RetainedPacket packet)
    {
        budget.Bytes -= packet.Length;
        packet.Lease?.Release();
        packet = default;
    }

    private void Grow()
    {
        var bigger = new RetainedPacket[BitOperations.RoundUpToPowerOf2((uint)_ring.Length * 2)];
        for (long n = First; n < Next; n++)
        {
            bigger[n & (bigger.Length - 1)] = this[n];
        }

        _ring = bigger;
    }
}

// What a node's outbound streams hold together; the sender side says "no room" at the limit.
internal sealed class RetentionBudget(long limitBytes)
{
    public long Bytes;

    public long LimitBytes { get; } = limitBytes;

    public bool Allows(long bytes) => Bytes + bytes <= LimitBytes;
}
