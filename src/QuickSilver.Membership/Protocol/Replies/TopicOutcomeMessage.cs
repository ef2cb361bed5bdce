namespace QuickSilver.Membership.Protocol.Replies;

// The answer to one SetTopic; no refusal means granted.
internal readonly record struct TopicOutcomeMessage(ulong RequestId, string Refusal) : IControlMessage
{
    public static int Kind => ControlMessageKind.TopicOutcome;

    public void Write(ProtoWriter writer)
    {
        writer.UInt64(1, RequestId);
        writer.Text(2, Refusal);
    }

    public static bool TryRead(ReadOnlySpan<byte> body, out TopicOutcomeMessage message)
    {
        var reader = new ProtoReader(body);
        ulong requestId = 0;
        string refusal = "";
        while (reader.Next())
        {
            switch (reader.Field)
            {
                case 1: requestId = reader.UInt64(); break;
                case 2: refusal = reader.Text(ControlFrame.MaxReasonBytes); break;
                default: reader.Skip(); break;
            }
        }

        message = new TopicOutcomeMessage(requestId, refusal);
        return !reader.Failed;
    }
}
