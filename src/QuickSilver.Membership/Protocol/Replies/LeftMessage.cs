namespace QuickSilver.Membership.Protocol.Replies;

// The service has taken note of Leave.
internal readonly record struct LeftMessage() : IControlMessage
{
    public static int Kind => ControlMessageKind.Left;

    public void Write(ControlBuffer buffer)
    {
    }
}
