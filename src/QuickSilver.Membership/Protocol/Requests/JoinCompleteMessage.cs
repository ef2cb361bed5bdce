namespace QuickSilver.Membership.Protocol.Requests;

// Ends the registration that Join began: every topic open at the node was named, and it may be in the next views.
internal readonly record struct JoinCompleteMessage() : IControlMessage
{
    public static int Kind => ControlMessageKind.JoinComplete;

    public void Write(ControlBuffer buffer)
    {
    }
}
