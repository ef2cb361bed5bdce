using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Nodes;

namespace QuickSilver.Multicast.Ordering;

// Decides the order in which the messages of several senders in a topic are delivered. The messages of one sender are always delivered in
// the order of their numbers; while the next message of a sender waits, the later ones of the same sender wait too.
internal interface IDeliveryOrder
{
    /// <summary>
    /// Whether this message, the next of its sender, may be delivered now. If not, it is offered again after another message was delivered
    /// or a gap was reported.
    /// </summary>
    bool MayDeliver(in DeliveredMessage message);

    /// <summary>
    /// Called immediately before the message is delivered. Messages that this node publishes in reply follow it in the order.
    /// </summary>
    void OnDelivered(in DeliveredMessage message);

    /// <summary>Called when the sink had no room for the message, which is offered again later.</summary>
    void OnRefused(in DeliveredMessage message);

    /// <summary>Called when these messages will not arrive.</summary>
    void OnGap(in TopicGap gap);

    /// <summary>
    /// For a pinned topic: all messages offered from now on were sent in this view, and no message of the view before it is left.
    /// </summary>
    void OnView(MemberView view)
    {
    }
}

// Creates the stamps by which a publisher's messages are ordered among those of other publishers.
internal interface IOrderStamps
{
    /// <summary>Writes the order stamp of the message with this number.</summary>
    /// <returns>The length of the stamp in bytes.</returns>
    int Write(long number, Span<byte> stamp);
}

// Creates the delivery orders of a node's channels. All members of a cluster use the same scheme.
internal interface IDeliveryOrderScheme
{
    /// <summary>The order in front of a subscription's sink; null: each sender's own order only, without a stage in between.</summary>
    IDeliveryOrder? ForSubscription(NodeContext context, in ChannelSpec channel);

    /// <summary>The stamps of the messages that this node publishes in the channel; null: no stamps.</summary>
    IOrderStamps? ForPublisher(NodeContext context, in ChannelSpec channel);
}

// FIFO: the order of each sender alone. SenderOrder and TopicReceiver already provide it, so the path of a message contains no further
// stage.
internal sealed class FifoOrder : IDeliveryOrderScheme
{
    public static FifoOrder Scheme { get; } = new();

    public IDeliveryOrder? ForSubscription(NodeContext context, in ChannelSpec channel) => null;

    public IOrderStamps? ForPublisher(NodeContext context, in ChannelSpec channel) => null;
}
