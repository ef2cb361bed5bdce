using QuickSilver.Serialization.Protobuf;

namespace QuickSilver.Membership.Protocol.Requests;

// Gives up all access to a topic.
internal readonly record struct CloseTopicMessage(ulong RequestId, ulong TopicId) : IControlMessage, IReadableMessage<CloseTopicMessage>
{
    public int Kind => ControlMessageKind.CloseTopic;

    public void Write(ControlBuffer buffer)
    {
        buffer.UInt64(1, RequestId);
        buffer.Fixed64(2, TopicId);
    }

    public static CloseTopicMessage Read(ReadOnlySpan<byte> body)
    {
        var reader = new ProtobufReader(body);
        ulong requestId = 0;
        ulong topicId = 0;
        while (reader.TryReadField(out var field))
        {
            switch (field.Number)
            {
                case 1: requestId = reader.ReadUInt64(field); break;
                case 2: topicId = reader.ReadFixed64(field); break;
                default: reader.Skip(field); break;
            }
        }

        return new CloseTopicMessage(requestId, topicId);
    }
}
