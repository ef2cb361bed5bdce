namespace QuickSilver.Membership.Protocol.Replies;

// The node cannot join, and why. The service closes the stream.
internal readonly record struct RefusedMessage(string Reason) : IControlMessage
{
    public static int Kind => ControlMessageKind.Refused;

    public void Write(ProtoWriter writer)
    {
        writer.Text(1, Reason);
    }

    public static bool TryRead(ReadOnlySpan<byte> body, out RefusedMessage message)
    {
        var reader = new ProtoReader(body);
        string reason = "";
        while (reader.Next())
        {
            switch (reader.Field)
            {
                case 1: reason = reader.Text(ControlFrame.MaxReasonBytes); break;
                default: reader.Skip(); break;
            }
        }

        message = new RefusedMessage(reason);
        return !reader.Failed;
    }
}
