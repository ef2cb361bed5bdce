using QuickSilver.Core.Environment;
using QuickSilver.Membership.Client;
using QuickSilver.Membership.Regions;
using QuickSilver.Membership.Service;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast;
using QuickSilver.Multicast.Protocols;

namespace QuickSilver.Composition;

// What the layers below are told of a node's options. The same for all nodes that have the same options, as those of a simulated
// cluster do: they share one.
internal sealed class ProtocolOptions
{
    /// <param name="node">Not changed any more.</param>
    /// <param name="tokenInterval">Null: tokens go when there is something to tell. For experiments.</param>
    /// <param name="feedbackRanges">1: acknowledgements say one number. For experiments.</param>
    /// <param name="topicSets">How a service that this node hosts parts topics into sets; null: as usual.</param>
    /// <param name="ephemeral">What ports the system gives to sockets that ask for any; null: not known.</param>
    /// <param name="reassemblyBytes">What messages in parts may take; null: as usual. For tests.</param>
    public ProtocolOptions(
        QuickSilverOptions node,
        TimeSpan? tokenInterval = null,
        int feedbackRanges = 1,
        TopicSetRules? topicSets = null,
        EphemeralPorts? ephemeral = null,
        long? reassemblyBytes = null)
    {
        Node = node;
        Multicast = new MulticastOptions
        {
            ClusterId = TopicId.Of(node.Cluster),
            PacketBytes = node.PacketBytes,
            RetentionBytes = node.Limits.RetentionBytes,
            ReceiveBufferBytes = node.Limits.ReceiveBufferBytes,
            RepairBytesPerSecond = node.Limits.RepairBytesPerSecond,
            SegmentationOffload = node.SegmentationOffload,
            EphemeralPorts = ephemeral,
            Unicast = node.Dissemination == Dissemination.Unicast,
            CopiesToDeaf = node.Dissemination == Dissemination.Auto,
            TokenIntervalFixed = tokenInterval,
            FeedbackRanges = feedbackRanges,
            StallWarning = node.StallWarning,
            ReassemblyBytes = reassemblyBytes ?? MulticastOptions.DefaultReassemblyBytes,
        };
        Service = new MembershipServiceOptions
        {
            Cluster = node.Cluster,
            MulticastBase = node.Service.MulticastNetwork.BaseAddress,
            MulticastPrefix = node.Service.MulticastNetwork.PrefixLength,
            GroupPorts = new GroupPorts(node.Service.FirstGroupPort, node.Service.LastGroupPort, ephemeral),
            Repair = new RepairRules(node.Service.Replicas, node.RingSize),
            Failures = new FailureDetectorOptions
            {
                HeartbeatInterval = node.Service.HeartbeatInterval,
                HeartbeatsMissed = node.Service.MissedHeartbeatLimit,
            },
            TopicSets = topicSets ?? new TopicSetRules(),
        };
        Discovery = new DiscoveryOptions { Port = node.DiscoveryPort };
    }

    public QuickSilverOptions Node { get; }

    /// <summary>What topics can be opened with.</summary>
    public TopicProtocols Protocols { get; init; } = TopicProtocols.BuiltIn;

    public MulticastOptions Multicast { get; }

    /// <summary>Of the membership service, which the node may come to host.</summary>
    public MembershipServiceOptions Service { get; }

    public DiscoveryOptions Discovery { get; }
}
