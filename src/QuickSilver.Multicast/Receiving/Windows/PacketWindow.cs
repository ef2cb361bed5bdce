using System.Numerics;
using System.Runtime.CompilerServices;
using QuickSilver.Core.Buffers;
using QuickSilver.Core.Environment;
using QuickSilver.Multicast.Schemes;

namespace QuickSilver.Multicast.Receiving.Windows;

// The received packets of one stream from Base on: those behind a gap, and those kept as the region's cache. They are in a ring that is
// indexed by packet number. It grows to the span in use, which the options bound (I17).
internal sealed class PacketWindow(int maxPackets, ReceiveMemory memory)
{
    // A member of many groups has a stream of each sender in each, and most are seldom used.
    private const int FirstSlots = 8;
    // It does not shrink below that, so that short bursts allocate nothing.
    private const int LeastSlots = 64;
    // Unused slots are returned if the ring has so many times the slots that were used since the last look.
    private const int Slack = 8;

    private PacketSlot[] _ring = new PacketSlot[FirstSlots];
    // The widest span since the last look.
    private long _widest;

    // The first number that may be in the window. All packets before it were passed on and released.
    public long Base { get; private set; } = 1;

    /// <summary>The bytes of the packets that are held.</summary>
    public long HeldBytes { get; private set; }

    /// <summary>The number of packets that are held in places because memory was short.</summary>
    public int Placed { get; private set; }

    public bool Takes(long sequence) => sequence >= Base && sequence - Base < maxPackets;

    public bool Contains(long sequence) => sequence >= Base && sequence < Base + _ring.Length && this[sequence].State != SlotState.Empty;

    public bool Holds(long sequence) => sequence >= Base && sequence < Base + _ring.Length && this[sequence].State == SlotState.Held;

    public ref PacketSlot this[long sequence] => ref _ring[sequence & (_ring.Length - 1)];

    public void Put(long sequence, Lease lease, int offset, int length)
    {
        Reserve(sequence);
        lease.AddClaim();
        if (HeldBytes == 0)
        {
            memory.HoldingStreams++;
        }

        HeldBytes += length;
        if (lease.IsPlace)
        {
            Placed++;
        }

        this[sequence] = new PacketSlot
        {
            Lease = lease,
            Offset = offset,
            Length = length,
            State = SlotState.Held,
            SentAt = TimeSpan.MinValue,
        };
    }

    /// <summary>The slot of a packet that is missing.</summary>
    public ref PacketSlot Missing(long sequence)
    {
        Reserve(sequence);
        return ref this[sequence];
    }

    public void PutLost(long sequence)
    {
        Reserve(sequence);
        this[sequence] = new PacketSlot { State = SlotState.Lost };
    }

    public void Drop(long sequence)
    {
        ref var slot = ref this[sequence];
        Release(slot);
        slot = new PacketSlot { State = SlotState.Dropped };
    }

    public void ReleaseThrough(long sequence)
    {
        while (Base <= sequence)
        {
            ref var slot = ref this[Base];
            Release(slot);
            slot = default;
            Base++;
        }
    }

    /// <summary>Releases all packets, and continues with this number.</summary>
    public void SkipTo(long sequence)
    {
        foreach (ref var slot in _ring.AsSpan())
        {
            Release(slot);
            slot = default;
        }

        Base = sequence;
    }

    /// <summary>Called from time to time to return unused slots. There is no packet beyond <paramref name="highest"/>.</summary>
    public void Trim(long highest)
    {
        int slots = (int)BitOperations.RoundUpToPowerOf2((ulong)Math.Max(LeastSlots, _widest));
        if (_ring.Length > LeastSlots && _widest <= _ring.Length / Slack && !TryShrink(slots, highest))
        {
            return;
        }

        _widest = Math.Max(0, highest - Base + 1);
    }

    public void Clear(long highest)
    {
        long end = Math.Min(highest, Base + _ring.Length - 1);
        if (end >= Base)
        {
            ReleaseThrough(end);
        }
    }

    private void Release(in PacketSlot slot)
    {
        if (slot.Lease is { } lease)
        {
            HeldBytes -= slot.Length;
            if (HeldBytes == 0)
            {
                memory.HoldingStreams--;
            }

            if (lease.IsPlace)
            {
                Placed--;
            }

            lease.Release();
        }
    }

    /// <summary>Whether the ring must grow for this packet.</summary>
    public bool IsTight(long sequence) => sequence - Base + 1 > _ring.Length;

    /// <summary>Makes room for the packet, and for those before it. Nothing is changed if there is no memory.</summary>
    public void Reserve(long sequence)
    {
        long span = sequence - Base + 1;
        if (span > _widest)
        {
            Widen(span);
        }
    }

    private void Widen(long span)
    {
        if (span > _ring.Length)
        {
            Resize((int)BitOperations.RoundUpToPowerOf2((ulong)span), Base + _ring.Length - 1);
        }

        _widest = span;
    }

    // False: there is no memory for a smaller ring, so the larger one stays in use.
    private bool TryShrink(int slots, long highest)
    {
        try
        {
            Resize(slots, highest);
            return true;
        }
        catch (OutOfMemoryException)
        {
            return false;
        }
    }

    private void Resize(int slots, long highest)
    {
        memory.Heap.Ask(HeapUse.StreamTables, (long)slots * Unsafe.SizeOf<PacketSlot>());
        var ring = new PacketSlot[slots];
        for (long n = Base; n <= highest; n++)
        {
            ring[n & (ring.Length - 1)] = this[n];
        }

        _ring = ring;
    }
}
