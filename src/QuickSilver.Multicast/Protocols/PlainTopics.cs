using QuickSilver.Multicast.Channels;

namespace QuickSilver.Multicast.Protocols;

// Topics whose guarantee is that of the channel, without a stage in between.
internal sealed class PlainTopics(IMulticast multicast, ChannelSpec channel) : ITopicProtocol
{
    public static TopicProtocolFactory Reliable { get; } = Of("Reliable", new ChannelSpec { Reliability = Reliability.Reliable });

    public static TopicProtocolFactory BestEffort { get; } = Of("BestEffort", new ChannelSpec { Reliability = Reliability.BestEffort });

    /// <summary>
    /// Topics to which one node subscribes: what other nodes send to it alone does not divide the regions of other topics.
    /// </summary>
    public static TopicProtocolFactory Inbox { get; } = Of(
        "Inbox", new ChannelSpec { Reliability = Reliability.Reliable, IsPinned = true, HasOneSubscriber = true });

    /// <param name="guarantee">The name of the guarantee in contracts.</param>
    /// <param name="channel">The channel of each topic, without the topic's number.</param>
    public static TopicProtocolFactory Of(string guarantee, ChannelSpec channel) =>
        new(guarantee, node => new PlainTopics(node.Multicast, channel)) { IsPinned = channel.IsPinned };

    public ITopicSender OpenPublisher(in ProtocolTopic topic) => multicast.OpenPublisher(ChannelOf(topic));

    public ITopicReceiver OpenSubscription(in ProtocolTopic topic, IDeliverySink sink) =>
        multicast.OpenSubscription(ChannelOf(topic), sink);

    private ChannelSpec ChannelOf(in ProtocolTopic topic) => channel with { Topic = topic.Id, Parameters = topic.Contract.Parameters };
}
