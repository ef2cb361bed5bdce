using QuickSilver.Serialization.Protobuf;

namespace QuickSilver.Membership.Protocol.Replies;

// The node was removed from the views: it must start again as a new incarnation.
internal readonly record struct ExpelledMessage(string Reason) : IControlMessage, IReadableMessage<ExpelledMessage>
{
    public static int Kind => ControlMessageKind.Expelled;

    public void Write(ControlBuffer buffer)
    {
        buffer.Text(1, Reason);
    }

    public static ExpelledMessage Read(ReadOnlySpan<byte> body)
    {
        var reader = new ProtobufReader(body);
        string reason = "";
        while (reader.TryReadField(out var field))
        {
            switch (field.Number)
            {
                case 1: reason = reader.ReadText(field, ControlFrame.MaxReasonBytes); break;
                default: reader.Skip(field); break;
            }
        }

        return new ExpelledMessage(reason);
    }
}
