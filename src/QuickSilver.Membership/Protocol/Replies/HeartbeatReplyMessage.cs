namespace QuickSilver.Membership.Protocol.Replies;

// The service lives too.
internal readonly record struct HeartbeatReplyMessage(long Configuration) : IControlMessage
{
    public static int Kind => ControlMessageKind.HeartbeatReply;

    public void Write(ProtoWriter writer)
    {
        writer.Int64(1, Configuration);
    }

    public static bool TryRead(ReadOnlySpan<byte> body, out HeartbeatReplyMessage message)
    {
        var reader = new ProtoReader(body);
        long configuration = 0;
        while (reader.Next())
        {
            switch (reader.Field)
            {
                case 1: configuration = reader.Int64(); break;
                default: reader.Skip(); break;
            }
        }

        message = new HeartbeatReplyMessage(configuration);
        return !reader.Failed;
    }
}
