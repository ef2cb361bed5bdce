namespace QuickSilver.Membership.Protocol;

// A message without fields: its kind says all.
internal readonly record struct SignalMessage(int Kind) : IControlMessage
{
    /// <summary>
    /// Ends the registration that Join began: every topic that the node has open was named, and the node may be in the next views.
    /// </summary>
    public static SignalMessage JoinComplete => new(ControlMessageKind.JoinComplete);

    /// <summary>The node leaves permanently.</summary>
    public static SignalMessage Leave => new(ControlMessageKind.Leave);

    /// <summary>The service has taken note of Leave.</summary>
    public static SignalMessage Left => new(ControlMessageKind.Left);

    public void Write(ControlBuffer buffer)
    {
    }
}
