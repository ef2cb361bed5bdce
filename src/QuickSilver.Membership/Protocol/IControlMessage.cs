namespace QuickSilver.Membership.Protocol;

// One message of the control protocol. Its kind is its field number in the envelope and is never given to another:
// 1 to 15 go to the service, 16 and above come from it. Field numbers within a message are likewise for ever; unknown
// ones are skipped, so either side may be the newer.
internal interface IControlMessage
{
    static abstract int Kind { get; }

    void Write(ControlBuffer buffer);
}

// A message whose fields matter to whoever receives it.
internal interface IReadableMessage<TSelf>
    where TSelf : IReadableMessage<TSelf>
{
    /// <exception cref="FormatException">The body is no such message.</exception>
    static abstract TSelf Read(ReadOnlySpan<byte> body);
}
