using QuickSilver.Serialization.Protobuf;

namespace QuickSilver.Membership.Protocol.Replies;

// The answer to one SetTopic; no refusal means granted.
internal readonly record struct TopicOutcomeMessage(ulong RequestId, string Refusal)
    : IControlMessage, IReadableMessage<TopicOutcomeMessage>
{
    /// <summary>The identity that lacks a right, for which the topic is refused; null: it is refused for something else.</summary>
    public string? DeniedTo { get; init; }

    public int Kind => ControlMessageKind.TopicOutcome;

    public void Write(ControlBuffer buffer)
    {
        buffer.UInt64(1, RequestId);
        buffer.Text(2, Refusal);
        if (DeniedTo is not null)
        {
            buffer.Bool(3, true);
            buffer.Text(4, DeniedTo);
        }
    }

    public static TopicOutcomeMessage Read(ReadOnlySpan<byte> body)
    {
        var reader = new ProtobufReader(body);
        ulong requestId = 0;
        string refusal = "";
        bool isDenied = false;
        string identity = "";
        while (reader.TryReadField(out var field))
        {
            switch (field.Number)
            {
                case 1: requestId = reader.ReadUInt64(field); break;
                case 2: refusal = reader.ReadText(field, ControlFrame.MaxReasonBytes); break;
                case 3: isDenied = reader.ReadBool(field); break;
                case 4: identity = reader.ReadText(field, ControlFrame.MaxReasonBytes); break;
                default: reader.Skip(field); break;
            }
        }

        return new TopicOutcomeMessage(requestId, refusal) { DeniedTo = isDenied ? identity : null };
    }
}
