using QuickSilver.Serialization.Protobuf;

namespace QuickSilver.Membership.Protocol.Replies;

// The answer to one SetTopic; no refusal means granted.
internal readonly record struct TopicOutcomeMessage(ulong RequestId, string Refusal)
    : IControlMessage, IReadableMessage<TopicOutcomeMessage>
{
    public int Kind => ControlMessageKind.TopicOutcome;

    public void Write(ControlBuffer buffer)
    {
        buffer.UInt64(1, RequestId);
        buffer.Text(2, Refusal);
    }

    public static TopicOutcomeMessage Read(ReadOnlySpan<byte> body)
    {
        var reader = new ProtobufReader(body);
        ulong requestId = 0;
        string refusal = "";
        while (reader.TryReadField(out var field))
        {
            switch (field.Number)
            {
                case 1: requestId = reader.ReadUInt64(field); break;
                case 2: refusal = reader.ReadText(field, ControlFrame.MaxReasonBytes); break;
                default: reader.Skip(field); break;
            }
        }

        return new TopicOutcomeMessage(requestId, refusal);
    }
}
