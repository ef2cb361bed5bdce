using System.Buffers.Binary;
using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;

namespace QuickSilver.Multicast.Hearing;

// What a sender and a member say to each other about the way between them.
internal enum HearingWord : byte
{
    // The sender, over the group: whoever gets this hears it there.
    Probe = 0,
    // The member: a probe over the group is wanted.
    Asks = 1,
    // The member: nothing of this sender comes over the group, and copies are wanted.
    Deaf = 2,
    // The member: the group is heard (again), and copies are not wanted.
    Hears = 3,
    // The sender: this member gets copies.
    Served = 4,
    // The sender: this member gets none; what is new is sent to the group.
    Unserved = 5,
    // The sender: it sends to no groups, by its own choice.
    NoGroups = 6,
}

// The body of a Hearing packet: u64 and u32 whose sending it is about, u8 the word. All but probes go by unicast. The sender is named
// because its next life may have the same address. The header's sequence is the number of the last probe that the sender has sent
// (its own count over all regions), and in a member's words that of the last one that it heard.
internal readonly record struct HearingNotice(NodeKey Origin, HearingWord Word)
{
    public const int Bytes = PacketHeader.Bytes + BodyBytes;
    private const int BodyBytes = 13;

    public void Write(Span<byte> packet, in PacketTemplate template, long probe)
    {
        template.Write(packet, PacketKind.Hearing, PacketFlags.None, probe, 0, 0);
        var body = packet[PacketHeader.Bytes..];
        BinaryPrimitives.WriteUInt64LittleEndian(body, Origin.Id);
        BinaryPrimitives.WriteUInt32LittleEndian(body[8..], Origin.Incarnation);
        body[12] = (byte)Word;
        PacketTemplate.Seal(packet[..Bytes]);
    }

    public static bool TryRead(ReadOnlySpan<byte> body, out HearingNotice notice)
    {
        notice = default;
        if (body.Length < BodyBytes || body[12] > (byte)HearingWord.NoGroups)
        {
            return false;
        }

        notice = new HearingNotice(
            new NodeKey(BinaryPrimitives.ReadUInt64LittleEndian(body), BinaryPrimitives.ReadUInt32LittleEndian(body[8..])),
            (HearingWord)body[12]);
        return true;
    }
}
