namespace QuickSilver.Membership.Protocol.Replies;

// The service has taken note of Leave.
internal readonly record struct LeftMessage() : IControlMessage
{
    public static int Kind => 25;

    public void Write(ProtoWriter writer)
    {
    }
}
