namespace QuickSilver.Membership.Protocol.Replies;

// The service lives too.
internal readonly record struct HeartbeatReplyMessage(long Configuration) : IControlMessage
{
    public static int Kind => ControlMessageKind.HeartbeatReply;

    public void Write(ControlBuffer buffer)
    {
        buffer.Int64(1, Configuration);
    }
}
