namespace QuickSilver.Membership.Protocol.Requests;

// The node leaves for good.
internal readonly record struct LeaveMessage() : IControlMessage
{
    public static int Kind => ControlMessageKind.Leave;

    public void Write(ControlBuffer buffer)
    {
    }
}
