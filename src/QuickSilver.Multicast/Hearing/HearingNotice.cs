using System.Buffers.Binary;
using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;

namespace QuickSilver.Multicast.Hearing;

// What a sender and a member report to each other about multicast from the one to the other.
internal enum HearingWord : byte
{
    // From the sender, over the group: a node that receives this hears the group.
    Probe = 0,
    // From the member: it requests a probe over the group.
    Asks = 1,
    // From the member: it receives nothing from this sender over the group, and requests copies.
    Deaf = 2,
    // From the member: it hears the group (again), and needs no copies.
    Hears = 3,
    // From the sender: the member gets copies.
    Served = 4,
    // From the sender: the member gets no copies; new packets are sent to the group.
    Unserved = 5,
    // From the sender: it sends to no groups, because its options say so.
    NoGroups = 6,
    // From the member: it receives nothing over the address of a topic, which the body names.
    MissesTopic = 7,
}

// The body of a Hearing packet: u64 and u32 the sender to which it refers, u8 the word, with MissesTopic the u64 topic id. All words but
// probes are sent by unicast. The body names the sender because another incarnation may later have the same address. The header's sequence
// is the number of the last probe that the sender has sent, counted over all its regions; in a member's words it is the number of the last
// probe that the member has heard.
internal readonly record struct HearingNotice(NodeKey Origin, HearingWord Word, ulong Topic = 0)
{
    public const int Bytes = PacketHeader.Bytes + BodyBytes;
    public const int MostBytes = Bytes + TopicBytes;
    private const int BodyBytes = 13;
    private const int TopicBytes = 8;

    public void Write(Span<byte> packet, in PacketTemplate template, long probe)
    {
        template.Write(packet, PacketKind.Hearing, PacketFlags.None, probe, 0, 0);
        var body = packet[PacketHeader.Bytes..];
        BinaryPrimitives.WriteUInt64LittleEndian(body, Origin.Id);
        BinaryPrimitives.WriteUInt32LittleEndian(body[8..], Origin.Incarnation);
        body[12] = (byte)Word;
        PacketTemplate.Seal(packet[..Bytes]);
    }

    /// <summary>Writes a notice that names a topic.</summary>
    public void WriteWithTopic(Span<byte> packet, in PacketTemplate template)
    {
        Write(packet, template, probe: 0);
        BinaryPrimitives.WriteUInt64LittleEndian(packet[Bytes..], Topic);
        PacketTemplate.Seal(packet[..MostBytes]);
    }

    public static bool TryRead(ReadOnlySpan<byte> body, out HearingNotice notice)
    {
        notice = default;
        if (body.Length < BodyBytes || body[12] > (byte)HearingWord.MissesTopic)
        {
            return false;
        }

        bool namesTopic = body[12] == (byte)HearingWord.MissesTopic;
        if (namesTopic && body.Length < BodyBytes + TopicBytes)
        {
            return false;
        }

        notice = new HearingNotice(
            new NodeKey(BinaryPrimitives.ReadUInt64LittleEndian(body), BinaryPrimitives.ReadUInt32LittleEndian(body[8..])),
            (HearingWord)body[12],
            namesTopic ? BinaryPrimitives.ReadUInt64LittleEndian(body[BodyBytes..]) : 0);
        return true;
    }
}
