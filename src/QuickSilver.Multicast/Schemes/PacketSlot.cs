using QuickSilver.Core.Buffers;
using QuickSilver.Membership.Views;

namespace QuickSilver.Multicast.Schemes;

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
