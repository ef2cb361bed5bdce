using System.Buffers.Binary;
using QuickSilver.Multicast.Channels;

namespace QuickSilver.Multicast.Ordering.BestEffort;

// What a sender reports about a best-effort topic in its reliable stream into the same view: how many messages it has sent and, in the
// start table before the mark, where the topic begins. The mark is a message of the topic MessageHeader.MarkTopic, with the payload u64
// topic and i64 number.
internal readonly record struct TopicMark(ulong TopicId, long Number)
{
    public const int Bytes = 16;

    public void Write(Span<byte> at)
    {
        BinaryPrimitives.WriteUInt64LittleEndian(at, TopicId);
        BinaryPrimitives.WriteInt64LittleEndian(at[8..], Number);
    }

    public static bool TryRead(ReadOnlySpan<byte> at, out TopicMark mark)
    {
        mark = default;
        if (at.Length != Bytes)
        {
            return false;
        }

        mark = new TopicMark(BinaryPrimitives.ReadUInt64LittleEndian(at), BinaryPrimitives.ReadInt64LittleEndian(at[8..]));
        return mark.Number is > 0 and <= MessageHeader.MaxNumber;
    }
}
