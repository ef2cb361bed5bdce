using Microsoft.Extensions.Logging;
using QuickSilver.Core.Environment;
using QuickSilver.Multicast.Channels;

namespace QuickSilver.Multicast.Protocols;

// How the topics of one guarantee are carried: by which channel of multicast, and what stands between the channel and the topic's
// endpoints. A node creates a protocol with the first topic of its guarantee, and it serves all of them. Core thread.
internal interface ITopicProtocol
{
    /// <summary>Once for each topic, until the sender is closed.</summary>
    ITopicSender OpenPublisher(ulong topic);

    /// <summary>Once for each topic, until the receiver is closed.</summary>
    ITopicReceiver OpenSubscription(ulong topic, IDeliverySink sink);

    /// <summary>The node ends; what was opened is closed.</summary>
    void Close()
    {
    }
}

// Guarantee is what contracts name: endpoints of different protocols never share a topic. A pinned one's topics own their regions.
internal sealed record TopicProtocolFactory(string Guarantee, Func<ProtocolContext, ITopicProtocol> Create)
{
    public bool IsPinned { get; init; }
}

// What a protocol has of its node.
internal readonly record struct ProtocolContext(INodeEnvironment Environment, IMulticast Multicast, ILogger Log);
