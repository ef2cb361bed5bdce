using System.Numerics;
using System.Runtime.CompilerServices;
using QuickSilver.Core.Buffers;
using QuickSilver.Core.Environment;
using QuickSilver.Core.Transport;
using QuickSilver.Membership.Views;

namespace QuickSilver.Multicast.Sending.Packing;

internal struct RetainedPacket
{
    public Lease? Lease;
    public int Offset;
    public TimeSpan LastRepair;
    // The length, and above it the keepers: the buffer has a ring of these for each stream.
    private uint _size;
    // How many later packets had been sent when it was last sent again: the retransmission follows them.
    private int _behind;
    // A mark of the member to which it was last sent again.
    private ushort _repairedFor;
    // Whether it was last sent again to all, because several members had requested it or all lacked it.
    public bool IsRepairedForAll;
    // How often it was sent again to all because all lacked it.
    public byte Naks;

    public int Length
    {
        readonly get => (int)(_size & 0xFF_FFFF);
        init => _size = (_size & 0xFF00_0000) | (uint)value;
    }

    /// <summary>
    /// How many streams keep the packet in the same memory, up to 255; 0: this one alone. It is a shared packet without its list.
    /// </summary>
    public int Keepers
    {
        readonly get => (int)(_size >> 24);
        init => _size = (_size & 0xFF_FFFF) | ((uint)Math.Min(value, byte.MaxValue) << 24);
    }

    public readonly bool IsShared => Keepers > 0;

    /// <summary>What it counts against the budget: all streams that keep it count it once together.</summary>
    public readonly int CountedBytes => Keepers > 0 ? (Length + Keepers - 1) / Keepers : Length;

    /// <summary>Notes that it was sent again, for one requester or for all.</summary>
    public void NoteRepair(TimeSpan now, in RepairAsker asker, bool forAll, int behind)
    {
        LastRepair = now;
        IsRepairedForAll = forAll;
        _repairedFor = asker.Mark;
        _behind = behind;
    }

    /// <summary>Whether it was last sent again for this member alone.</summary>
    public readonly bool WasRepairedFor(in RepairAsker asker) =>
        LastRepair != TimeSpan.MinValue && !IsRepairedForAll && _repairedFor == asker.Mark;

    /// <summary>
    /// Whether the last retransmission may still reach the requester: this is so until the requester knows of a packet that was sent
    /// before it. A requester that does not report what it knows of does not have to wait.
    /// </summary>
    public readonly bool MayComeTo(in RepairAsker asker, long number) =>
        asker.Known > 0 && asker.Known < number + _behind && (IsRepairedForAll || WasRepairedFor(asker));
}

// A member that requests packets, its address, and the highest number of the stream that it knows of.
internal readonly record struct RepairAsker(NodeKey Node, DatagramAddress Address, long Known)
{
    public ushort Mark => (ushort)Node.Id;
}

// The packets of one outbound stream, from the oldest that is not stable to the newest that was packed. They are not copied. Packet
// numbers are dense, so a ring that is indexed by number holds them. Their bytes count against the retention budget of the node.
internal sealed class RetentionBuffer(RetentionBudget budget)
{
    private const int FirstPlaces = 64;
    private RetainedPacket[] _ring = new RetainedPacket[FirstPlaces];
    // The first number for which the ring has no place: First + _ring.Length. It is read for each message.
    private long _end = 1 + FirstPlaces;

    // First is the oldest packet that is kept. Next is the number of the next packet.
    public long First { get; private set; } = 1;

    public long Next { get; private set; } = 1;

    public long Last => Next - 1;

    /// <summary>The number of packets from First on that are already released.</summary>
    public long ReleasedEarly { get; private set; }

    public bool Contains(long sequence) => sequence >= First && sequence < Next;

    /// <summary>
    /// The longest run from this packet on, of at most so many packets: they are adjacent in one block and of equal length, except that
    /// the last may be shorter. Shared packets are not adjacent, and are copied before they are sent.
    /// </summary>
    public (int Count, int Bytes) RunFrom(long first, int most)
    {
        ref var head = ref this[first];
        int bytes = head.Length;
        int count = 1;
        while (count < most)
        {
            ref var next = ref this[first + count];
            bool isAdjacent = head.IsShared ? next.IsShared : next.Lease == head.Lease && next.Offset == head.Offset + bytes;
            if (!isAdjacent || next.Length > head.Length)
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

    /// <summary>The bytes of a packet that is kept.</summary>
    public ReadOnlySpan<byte> PacketAt(long sequence)
    {
        ref var packet = ref this[sequence];
        return packet.Lease!.Span.Slice(packet.Offset, packet.Length);
    }

    /// <summary>Whether so many packets more need larger memory.</summary>
    public bool IsTight(int packets) => Next + packets > _end;

    /// <summary>Makes room for so many packets more, so that adding them cannot fail in the middle of a message.</summary>
    /// <exception cref="OutOfMemoryException">There is no memory.</exception>
    public void Reserve(int packets, NodeHeap heap)
    {
        if (IsTight(packets))
        {
            heap.Ask(HeapUse.SenderTables, (long)SizeFor(packets) * Unsafe.SizeOf<RetainedPacket>());
            Grow(packets);
        }
    }

    /// <param name="lease">The block, on which a claim is added.</param>
    /// <param name="offset">Where the packet begins.</param>
    /// <param name="length">Its length.</param>
    /// <param name="keepers">How many streams keep it as a shared packet; 0: it is this stream's own.</param>
    public void Append(Lease lease, int offset, int length, int keepers = 0)
    {
        if (IsTight(1))
        {
            Grow(1);
        }

        lease.AddClaim();
        ref var packet = ref this[Next];
        packet = new RetainedPacket
        {
            Lease = lease,
            Offset = offset,
            Length = length,
            Keepers = keepers,
            LastRepair = TimeSpan.MinValue,
        };
        budget.Bytes += packet.CountedBytes;
        budget.Packets++;
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
            _end++;
        }
    }

    /// <summary>Releases packets although some packets before them are still kept.</summary>
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
        budget.Bytes -= packet.CountedBytes;
        budget.Packets -= packet.Lease is null ? 0 : 1;
        packet.Lease?.Release();
        packet = default;
    }

    private int SizeFor(int packets) => (int)BitOperations.RoundUpToPowerOf2((uint)(Next - First + packets));

    private void Grow(int packets)
    {
        var bigger = new RetainedPacket[SizeFor(packets)];
        for (long n = First; n < Next; n++)
        {
            bigger[n & (bigger.Length - 1)] = this[n];
        }

        _ring = bigger;
        _end = First + bigger.Length;
    }
}

// The bytes that all outbound streams of a node hold. At the limit, senders have no room.
internal sealed class RetentionBudget(long limitBytes)
{
    public long Bytes;

    /// <summary>How many packets those are.</summary>
    public long Packets;

    public long LimitBytes { get; } = limitBytes;

    public bool Allows(long bytes) => Bytes + bytes <= LimitBytes;
}
