using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Reassembly;

namespace QuickSilver.Multicast.Receiving;

// One message out of a stream, in any order. Its payload lies in the packet's memory, or in Assembly when it spanned packets.
internal ref struct StreamMessage(NodeKey sender)
{
    // As it is handed up; a field, so that it goes up by reference.
    public DeliveredMessage Delivered = new(sender);
    public ReadOnlySpan<byte> StartTable;
    // The packet in which the message ends: who holds the message holds this packet.
    public long EndPacket;
    public Assembly? Assembly;
}

// Above the streams: order per topic and sender.
internal interface IStreamConsumer
{
    void OnMessage(InboundStream stream, in StreamMessage message);

    /// <summary>
    /// Some packets of the stream come next, all but the last of one length: what their messages will look at may be read before. Gives
    /// how many were looked into, at least one.
    /// </summary>
    int LookAhead(InboundStream stream, ReadOnlySpan<byte> packets, int length) => int.MaxValue;

    /// <summary>Packets of the stream were given up, or its sender is gone and all that can be had was handed up.</summary>
    void OnLoss(InboundStream stream);

    /// <summary>The stream can go on: call its ReadOn soon, and not from within this call.</summary>
    void OnUnread(InboundStream stream);
}
