namespace QuickSilver.Membership.Protocol.Requests;

// A step of the configuration is missing: the node asks for all of it.
internal readonly record struct ResyncMessage(long Known) : IControlMessage
{
    public static int Kind => ControlMessageKind.Resync;

    public void Write(ControlBuffer buffer)
    {
        buffer.Int64(1, Known);
    }
}
