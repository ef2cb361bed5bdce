using QuickSilver.Serialization.Protobuf;

namespace QuickSilver.Membership.Protocol.Replies;

// The answer to ListTopics begins with this. So many ListedTopic messages follow as it says.
internal readonly record struct TopicListMessage : IControlMessage, IReadableMessage<TopicListMessage>
{
    /// <summary>Topics of one page. With the longest names, they take 2 MB.</summary>
    public const int MostTopics = 500;

    public int Kind => ControlMessageKind.TopicList;

    // Open topics of the cluster.
    public int Topics { get; init; }
    public int Listed { get; init; }
    // Whether another page follows the last topic of this one.
    public bool HasMore { get; init; }

    public void Write(ControlBuffer buffer)
    {
        buffer.UInt64(1, (ulong)Topics);
        buffer.UInt64(2, (ulong)Listed);
        buffer.Bool(3, HasMore);
    }

    public static TopicListMessage Read(ReadOnlySpan<byte> body)
    {
        var reader = new ProtobufReader(body);
        int topics = 0, listed = 0;
        bool hasMore = false;
        while (reader.TryReadField(out var field))
        {
            switch (field.Number)
            {
                case 1: topics = reader.ReadInt32(field, int.MaxValue); break;
                case 2: listed = reader.ReadInt32(field, int.MaxValue); break;
                case 3: hasMore = reader.ReadBool(field); break;
                default: reader.Skip(field); break;
            }
        }

        return new TopicListMessage { Topics = topics, Listed = listed, HasMore = hasMore };
    }
}
