namespace QuickSilver.Multicast.Dissemination;

// One message out of a stream, in any order. Payload lies in the packet's memory, or in Assembly when it spanned packets.
internal readonly ref struct StreamMessage
{
    public required ulong TopicId { get; init; }
    public required long Sequence { get; init; }
    public required ReadOnlySpan<byte> StartTable { get; init; }
    public required ReadOnlyMemory<byte> Payload { get; init; }
    // The packet in which the message ends: who holds the message holds this packet.
    public required long EndPacket { get; init; }
    public Assembly? Assembly { get; init; }
}

// Above the streams: order per topic and sender.
internal interface IStreamConsumer
{
    void OnMessage(InboundStream stream, in StreamMessage message);

    /// <summary>Packets of the stream were given up, or its sender is gone and all that can be had was handed up.</summary>
    void OnLoss(InboundStream stream);
}
