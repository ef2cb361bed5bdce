using System.Numerics;
using QuickSilver.Core.Buffers;

namespace QuickSilver.Multicast.Receiving;

internal enum SlotState : byte
{
    Empty,
    Held,
    // Declared lost for good: nobody alive has it.
    Lost,
    // Accepted above, and kept by other members.
    Dropped,
}

internal struct PacketSlot
{
    public Lease? Lease;
    public int Offset;
    public int Length;
    // Messages that end in this packet and wait above: for an earlier one, or for room.
    public int Pending;
    public SlotState State;
    // Its messages were handed up, or are held there.
    public bool IsParsed;
    // Of a packet that is missing: how often it was asked for.
    public byte Asked;
    // Of one that is held: a mark of whom it was last sent to.
    public byte SentTo;
    // Shared by the two below, of which the state says which it is.
    private TimeSpan _repairAt;

    /// <summary>Of a packet that is missing: when it was last asked for, or found missing.</summary>
    public TimeSpan AskedAt
    {
        readonly get => _repairAt;
        set => _repairAt = value;
    }

    /// <summary>Of a packet that is held: when it was last sent to another; <see cref="TimeSpan.MinValue"/> if it was not.</summary>
    public TimeSpan SentAt
    {
        readonly get => _repairAt;
        set => _repairAt = value;
    }

    public readonly ReadOnlySpan<byte> Packet => Lease!.Span.Slice(Offset, Length);
}

// The received packets of one stream from Base on: out-of-order ones, and those kept as the region's cache. A ring indexed
// by packet number, grown to the span in use and bounded by the options.
internal sealed class PacketWindow(int maxPackets, ReceiveMemory memory)
{
    private const int LeastSlots = 64;
    // Slots that were not used since the last look are given back where they are so many times those that were.
    private const int Slack = 8;

    private PacketSlot[] _ring = new PacketSlot[LeastSlots];
    // The widest span since the last look.
    private long _widest;

    // The first number that may be in the window; everything before was handed up and let go.
    public long Base { get; private set; } = 1;

    /// <summary>Bytes of the packets that are held.</summary>
    public long HeldBytes { get; private set; }

    /// <summary>Packets that are held in places of their own, as memory was short.</summary>
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

    /// <summary>The place of a packet that is missing.</summary>
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

    /// <summary>Lets go of all that is held, and goes on with this number.</summary>
    public void SkipTo(long sequence)
    {
        foreach (ref var slot in _ring.AsSpan())
        {
            Release(slot);
            slot = default;
        }

        Base = sequence;
    }

    /// <summary>Now and then: gives slots back that are not used any more. There is nothing beyond <paramref name="highest"/>.</summary>
    public void Trim(long highest)
    {
        if (_ring.Length > LeastSlots && _widest <= _ring.Length / Slack)
        {
            Resize((int)BitOperations.RoundUpToPowerOf2((ulong)Math.Max(LeastSlots, _widest)), highest);
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

    private void Reserve(long sequence)
    {
        long span = sequence - Base + 1;
        if (span > _widest)
        {
            Widen(span);
        }
    }

    private void Widen(long span)
    {
        _widest = span;
        if (span > _ring.Length)
        {
            Resize((int)BitOperations.RoundUpToPowerOf2((ulong)span), Base + _ring.Length - 1);
        }
    }

    private void Resize(int slots, long highest)
    {
        var ring = new PacketSlot[slots];
        for (long n = Base; n <= highest; n++)
        {
            ring[n & (ring.Length - 1)] = this[n];
        }

        _ring = ring;
    }
}
