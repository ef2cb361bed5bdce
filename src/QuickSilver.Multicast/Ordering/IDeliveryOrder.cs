using QuickSilver.Multicast.Channels;

namespace QuickSilver.Multicast.Ordering;

// Which of several senders' messages in a topic goes up first. Each sender's own come in the order of their numbers whatever the order
// says; a sender whose next message waits keeps all that it sent after it waiting.
internal interface IDeliveryOrder
{
    /// <summary>
    /// Whether this message, the next of its sender, may go up now. If not, it is offered again after something went up or was given up.
    /// </summary>
    bool MayDeliver(in DeliveredMessage message);

    /// <summary>The message goes up: what is published from there in reply follows it.</summary>
    void OnDelivered(in DeliveredMessage message);

    /// <summary>There was no room for it above: it is offered again.</summary>
    void OnRefused(in DeliveredMessage message);

    /// <summary>These messages never come.</summary>
    void OnGap(in TopicGap gap);

    /// <summary>Of a pinned topic: what is offered from now on was sent in this view, and nothing of the one before is left.</summary>
    void OnView(MemberView view)
    {
    }
}

// What a publisher says of its messages' place among those of others.
internal interface IOrderStamps
{
    /// <summary>Writes what the message with this number carries as its order stamp, and gives how many bytes that are.</summary>
    int Write(long number, Span<byte> stamp);
}

// The order of a node's channels; all members of a cluster have the same.
internal interface IDeliveryOrderScheme
{
    /// <summary>The order before a subscription's sink; null: that of each sender alone, with nothing between.</summary>
    IDeliveryOrder? ForSubscription(MulticastContext context, in ChannelSpec channel);

    /// <summary>What the channel's messages from here carry; null: nothing.</summary>
    IOrderStamps? ForPublisher(MulticastContext context, in ChannelSpec channel);
}

// First in, first out: the order of each sender alone. It is made below, where streams become runs, so that the short way of a message
// goes past no further stage.
internal sealed class FifoOrder : IDeliveryOrderScheme
{
    public static FifoOrder Scheme { get; } = new();

    public IDeliveryOrder? ForSubscription(MulticastContext context, in ChannelSpec channel) => null;

    public IOrderStamps? ForPublisher(MulticastContext context, in ChannelSpec channel) => null;
}
