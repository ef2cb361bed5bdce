using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Nodes.Packets;
using QuickSilver.Multicast.Ordering.Holding;
using QuickSilver.Multicast.VitalSigns;

namespace QuickSilver.Multicast;

// What the public face asks of the multicast layer. Core thread only.
internal interface IMulticast
{
    ITopicSender OpenPublisher(in ChannelSpec channel);

    /// <summary>Starts to hand what arrives on the channel to the sink, from the first view on in which this node subscribes.</summary>
    ITopicReceiver OpenSubscription(in ChannelSpec channel, IDeliverySink sink);

    /// <summary>
    /// Starts to hand what arrives on the channel to the sink as soon as the gate lets it pass. What must wait is held within the limits of
    /// the node.
    /// </summary>
    HoldingSink OpenSubscription(in ChannelSpec channel, IDeliverySink sink, IDeliveryGate gate);

    /// <summary>The packets of protocols.</summary>
    /// <exception cref="NotSupportedException">The network carries messages only.</exception>
    IPacketExchange Packets { get; }

    /// <summary>What can be read of the streams and views; null if nothing can.</summary>
    VitalReadings? Readings => null;

    /// <summary>What the messages of a topic that are not sent wait for, in words; null if they wait for nothing.</summary>
    string? WhyWaiting(ulong topicId) => null;

    /// <summary>
    /// The messages that were sent and that not all members are known to hold, by topic. For the end of the node: it reads all packets that
    /// are kept.
    /// </summary>
    IEnumerable<UnacknowledgedTopic> ReadUnacknowledged() => [];
}
