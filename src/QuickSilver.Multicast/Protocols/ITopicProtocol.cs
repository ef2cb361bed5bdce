using QuickSilver.Membership.Snapshots;
using QuickSilver.Multicast.Channels;

namespace QuickSilver.Multicast.Protocols;

// Implements the topics of one guarantee: selects the multicast channel, and provides any stage between the channel and the topic's
// endpoints. A node creates a protocol with the first topic of its guarantee, and uses it for all of them. Called on the core thread.
internal interface ITopicProtocol
{
    /// <summary>What the protocol counts, for the meter of the node. Read once, when the protocol was created.</summary>
    IReadOnlyList<ProtocolCounter> Counters => [];

    /// <summary>Opens the topic's sender. Called at most once for each topic until the sender is closed.</summary>
    ITopicSender OpenPublisher(in ProtocolTopic topic);

    /// <summary>Opens the topic's receiver. Called at most once for each topic until the receiver is closed.</summary>
    ITopicReceiver OpenSubscription(in ProtocolTopic topic, IDeliverySink sink);

    /// <summary>
    /// The node has applied a configuration: <see cref="IProtocolNode.Roster"/>, the views of topics and those of regions are new.
    /// </summary>
    void OnConfiguration()
    {
    }

    /// <summary>
    /// Adds what the protocol waits for, each wait once, and always in the same order (I21). Called from time to time while something waits
    /// on the node; see <see cref="IProtocolNode.OnWait"/>.
    /// </summary>
    void AddWaits(List<IProtocolWait> waits)
    {
    }

    /// <summary>
    /// Adds what the protocol reports of its topics to an observer of the cluster, a row for each, always in the same order. Called when an
    /// observer asks, which is at most once a second.
    /// </summary>
    void AddSigns(List<ProtocolSnapshot> signs)
    {
    }

    /// <summary>Called when the node ends, after the endpoints of its topics have ended and before the multicast layer is closed.</summary>
    void Close()
    {
    }
}

// Creates a protocol. Contracts name the guarantee, so endpoints of different protocols never share a topic. Each topic of a pinned
// protocol owns its region.
internal sealed record TopicProtocolFactory(string Guarantee, Func<IProtocolNode, ITopicProtocol> Create)
{
    public bool IsPinned { get; init; }
}
