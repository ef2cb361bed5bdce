namespace QuickSilver.Membership.Protocol.Replies;

// The node was removed from the views: it must start again as a new incarnation.
internal readonly record struct ExpelledMessage(string Reason) : IControlMessage
{
    public static int Kind => ControlMessageKind.Expelled;

    public void Write(ProtoWriter writer)
    {
        writer.Text(1, Reason);
    }

    public static bool TryRead(ReadOnlySpan<byte> body, out ExpelledMessage message)
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

        message = new ExpelledMessage(reason);
        return !reader.Failed;
    }
}
