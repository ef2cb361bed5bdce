namespace QuickSilver.Membership.Protocol.Requests;

// Gives up all access to a topic.
internal readonly record struct CloseTopicMessage(ulong RequestId, ulong TopicId) : IControlMessage
{
    public static int Kind => ControlMessageKind.CloseTopic;

    public void Write(ProtoWriter writer)
    {
        writer.UInt64(1, RequestId);
        writer.Fixed64(2, TopicId);
    }

    public static bool TryRead(ReadOnlySpan<byte> body, out CloseTopicMessage message)
    {
        var reader = new ProtoReader(body);
        ulong requestId = 0;
        ulong topicId = 0;
        while (reader.Next())
        {
            switch (reader.Field)
            {
                case 1: requestId = reader.UInt64(); break;
                case 2: topicId = reader.Fixed64(); break;
                default: reader.Skip(); break;
            }
        }

        message = new CloseTopicMessage(requestId, topicId);
        return !reader.Failed;
    }
}
