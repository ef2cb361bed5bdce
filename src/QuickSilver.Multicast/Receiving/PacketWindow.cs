using System.Numerics;
using System.Runtime.CompilerServices;
using QuickSilver.Core.Buffers;
using QuickSilver.Core.Environment;
using QuickSilver.Membership.Views;

namespace QuickSilver.Multicast.Receiving;

internal enum SlotState : byte
{
    Empty,
    Held,
    // Declared lost: no live member has it.
    Lost,
    // Accepted above, and kept by other members.
    Dropped,
}

internal struct PacketSlot
{
    // The waits between offers double so many times.
    private const byte MostOffers = 8;

    public Lease? Lease;
    public int Offset;
    public int Length;
    // The number of messages that end in this packet and wait above, for an earlier message or for room.
    public int Pending;
    public SlotState State;
    // Its messages were passed on, or are held above.
    public bool IsParsed;
    // How often a missing packet was requested. Shared with Offers.
    public byte Asked;
    // A mark of the member to which a held packet was last sent. Shared with IsHeldElsewhere.
    public byte SentTo;
    // Shared by the two properties below; the state determines which one is valid.
    private TimeSpan _repairAt;

    /// <summary>When a missing packet was last requested, or found missing.</summary>
    public TimeSpan AskedAt
    {
        readonly get => _repairAt;
        set => _repairAt = value;
    }

    /// <summary>When a held packet was last sent to another member; <see cref="TimeSpan.MinValue"/> if it was not.</summary>
    public TimeSpan SentAt
    {
        readonly get => _repairAt;
        set => _repairAt = value;
    }

    /// <summary>Whether another member is known to hold a missing packet.</summary>
    public bool IsHeldElsewhere
    {
        readonly get => SentTo != 0;
        set => SentTo = value ? (byte)1 : (byte)0;
    }

    /// <summary>How often a held packet was missing at all other members of a ring.</summary>
    public byte Offers
    {
        readonly get => Asked;
        set => Asked = value;
    }

    public readonly ReadOnlySpan<byte> Packet => Lease!.Span.Slice(Offset, Length);

    /// <summary>Whether a held packet was last sent to this member.</summary>
    public readonly bool WasSentTo(NodeKey member) => SentAt != TimeSpan.MinValue && SentTo == (byte)member.Id;

    /// <summary>Notes that a held packet is sent to a member. False: it was sent to the same one within the spacing.</summary>
    public bool TryNoteSent(NodeKey to, TimeSpan now, TimeSpan spacing)
    {
        byte mark = (byte)to.Id;
        if (SentAt != TimeSpan.MinValue && SentTo == mark && now - SentAt < spacing)
        {
            return false;
        }

        SentTo = mark;
        SentAt = now;
        return true;
    }

    /// <summary>
    /// Notes that all other members of a ring lack a held packet. Returns whether to send it to them: not the first time, and then after
    /// waits that double up to a limit.
    /// </summary>
    public bool TryOffer(TimeSpan now, TimeSpan spacing, TimeSpan most)
    {
        if (Offers == 0)
        {
            Offers = 1;
            return false;
        }

        spacing *= 1 << Offers;
        if (SentAt != TimeSpan.MinValue && now - SentAt < (spacing < most ? spacing : most))
        {
            return false;
        }

        Offers = Math.Min((byte)(Offers + 1), MostOffers);
        return true;
    }
}

// The received packets of one stream from Base on: those behind a gap, and those kept as the region's cache. They are in a ring that is
// indexed by packet number. It grows to the span in use, which the options bound (I17).
internal sealed class PacketWindow(int maxPackets, ReceiveMemory memory)
{
    private const int LeastSlots = 64;
    // Unused slots are returned if the ring has so many times the slots that were used since the last look.
    private const int Slack = 8;

    private PacketSlot[] _ring = new PacketSlot[LeastSlots];
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

    /// <summary>Called now and then to return unused slots. There is no packet beyond <paramref name="highest"/>.</summary>
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
