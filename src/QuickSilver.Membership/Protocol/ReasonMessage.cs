using QuickSilver.Serialization.Protobuf;

namespace QuickSilver.Membership.Protocol;

// The service turns the node away, or does not make changes, and why.
internal readonly record struct ReasonMessage(int Kind, string Reason) : IControlMessage
{
    /// <summary>The node cannot join. The service closes the stream.</summary>
    public static ReasonMessage Refused(string reason) => new(ControlMessageKind.Refused, reason);

    /// <summary>The node was removed from the views: it must start again as a new incarnation.</summary>
    public static ReasonMessage Expelled(string reason) => new(ControlMessageKind.Expelled, reason);

    /// <summary>The service cannot make changes, for this reason; empty: it makes changes again.</summary>
    public static ReasonMessage Waiting(string reason) => new(ControlMessageKind.Waiting, reason);

    public void Write(ControlBuffer buffer)
    {
        buffer.Text(1, Reason);
    }

    public static ReasonMessage Read(ReadOnlySpan<byte> body, int kind)
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

        return new ReasonMessage(kind, reason);
    }
}
