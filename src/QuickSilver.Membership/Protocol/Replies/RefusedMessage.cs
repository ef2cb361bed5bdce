using QuickSilver.Serialization.Protobuf;

namespace QuickSilver.Membership.Protocol.Replies;

// The node cannot join, and why. The service closes the stream.
internal readonly record struct RefusedMessage(string Reason) : IControlMessage, IReadableMessage<RefusedMessage>
{
    public static int Kind => ControlMessageKind.Refused;

    public void Write(ControlBuffer buffer)
    {
        buffer.Text(1, Reason);
    }

    public static RefusedMessage Read(ReadOnlySpan<byte> body)
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

        return new RefusedMessage(reason);
    }
}
