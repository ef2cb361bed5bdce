namespace QuickSilver.Processes.Tests.Lab.Network;

/// <summary>Changes the payload of a datagram in place. Returns whether it did.</summary>
internal delegate bool PayloadChange(Span<byte> payload);

// What a switch changes in the datagrams that one node sends, as if the node had sent them so.
internal sealed record Tampering(int From, PayloadChange Change)
{
    public void Apply(Frame frame)
    {
        if (Change(frame.Payload))
        {
            frame.ForgoChecksum();
        }
    }
}
