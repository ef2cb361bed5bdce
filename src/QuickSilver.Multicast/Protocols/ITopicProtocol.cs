using Microsoft.Extensions.Logging;
using QuickSilver.Core.Environment;
using QuickSilver.Multicast.Channels;

namespace QuickSilver.Multicast.Protocols;

// Implements the topics of one guarantee: selects the multicast channel, and provides any stage between the channel and the topic's
// endpoints. A node creates a protocol with the first topic of its guarantee, and uses it for all of them. Called on the core thread.
internal interface ITopicProtocol
{
    /// <summary>Opens the topic's sender. Called at most once for each topic until the sender is closed.</summary>
    ITopicSender OpenPublisher(ulong topic);

    /// <summary>Opens the topic's receiver. Called at most once for each topic until the receiver is closed.</summary>
    ITopicReceiver OpenSubscription(ulong topic, IDeliverySink sink);

    /// <summary>Called when the node ends, after the endpoints of its topics have ended and before the multicast layer is closed.</summary>
    void Close()
    {
    }
}

// Creates a protocol. Contracts name the guarantee, so endpoints of different protocols never share a topic. Each topic of a pinned
// protocol owns its region.
internal sealed record TopicProtocolFactory(string Guarantee, Func<ProtocolContext, ITopicProtocol> Create)
{
    public bool IsPinned { get; init; }
}

// The parts of the node that a protocol may use.
internal readonly record struct ProtocolContext(INodeEnvironment Environment, IMulticast Multicast, ILogger Log);
