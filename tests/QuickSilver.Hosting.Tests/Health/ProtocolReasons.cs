using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Protocols;

namespace QuickSilver.Hosting.Tests.Health;

// The reason that a node has because of the protocol of a topic: one that waits for an answer which nothing gives.
internal static class ProtocolReasons
{
    public static Task<StatusReason> ProtocolWaits()
    {
        using var cluster = ClusterReasons.Started(nodes: 2);
        var factory = new TopicProtocolFactory("Answered", static node => new Unanswered(node));
        var options = new TopicOptions { Protocol = new ProtocolChoice(factory) };
        cluster.RunUntilCompleted(cluster.Nodes[0].Node.OpenTopicAsync<string>("prices", options));
        return ClusterReasons.Reason(cluster, 0, StatusReasonKind.ProtocolWaits);
    }

    private sealed class Unanswered(IProtocolNode node) : ITopicProtocol, IProtocolWait
    {
        public long Progress => 0;

        public string What => "Topic \"prices\" waits for an answer";

        public string? WaitsFor => $"node {node.Named(node.Self)}";

        public ITopicSender OpenPublisher(in ProtocolTopic topic)
        {
            node.OnWait();
            return node.Multicast.OpenPublisher(new ChannelSpec(topic.Id));
        }

        public ITopicReceiver OpenSubscription(in ProtocolTopic topic, IDeliverySink sink) =>
            node.Multicast.OpenSubscription(new ChannelSpec(topic.Id), sink);

        public void AddWaits(List<IProtocolWait> waits) => waits.Add(this);
    }
}
