namespace QuickSilver.Membership.Protocol;

// One message of the control protocol. Its kind is its field number in the envelope and is never reused for another kind: 1 to 15 go to
// the service, 16 and above come from it. Field numbers within a message are never reused either. Unknown fields are skipped, so either
// side may be the newer one. Kinds with the same fields share a type.
internal interface IControlMessage
{
    int Kind { get; }

    void Write(ControlBuffer buffer);
}

// A message whose fields its receiver needs.
internal interface IReadableMessage<TSelf>
    where TSelf : IReadableMessage<TSelf>
{
    /// <exception cref="QuickSilverException">The body is no such message.</exception>
    static abstract TSelf Read(ReadOnlySpan<byte> body);
}
