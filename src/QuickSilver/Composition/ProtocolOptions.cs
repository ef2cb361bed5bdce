using Microsoft.Extensions.Logging;
using QuickSilver.Core.Environment;
using QuickSilver.Core.Sealing;
using QuickSilver.Core.Security.Identities;
using QuickSilver.Core.Transport.Tls;
using QuickSilver.Membership.Client;
using QuickSilver.Membership.Regions.Addresses;
using QuickSilver.Membership.Regions.Sets;
using QuickSilver.Membership.Service;
using QuickSilver.Membership.Service.Failures;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast;
using QuickSilver.Multicast.Protocols;
using QuickSilver.Multicast.Receiving;

namespace QuickSilver.Composition;

// The options for the layers below, derived from a node's options. Nodes with the same options, such as those of a simulated cluster, share
// one object.
internal sealed class ProtocolOptions
{
    /// <param name="node">The node's options, which must not change any more.</param>
    /// <param name="tokenInterval">
    /// The fixed interval between tokens; null: tokens are sent when there is something to report. For experiments.
    /// </param>
    /// <param name="feedbackRanges">1: acknowledgements contain one number. For experiments.</param>
    /// <param name="topicSets">How a service that this node hosts partitions topics into sets; null: the default.</param>
    /// <param name="ephemeral">The ports that the system assigns to sockets that request any port; null: not known.</param>
    /// <param name="reassemblyBytes">The bytes that messages that span packets may take; null: the default. For tests.</param>
    public ProtocolOptions(
        QuickSilverOptions node,
        TimeSpan? tokenInterval = null,
        int feedbackRanges = 1,
        TopicSetRules? topicSets = null,
        EphemeralPorts? ephemeral = null,
        long? reassemblyBytes = null)
    {
        Node = node;
        var received = new ReceivedShares(node.Limits.ReceivedMessageBytes);
        Multicast = new MulticastOptions
        {
            ClusterId = TopicId.Of(node.Cluster),
            PacketBytes = node.PacketBytes,
            RetentionBytes = node.Limits.RetentionBytes,
            ReceiveBufferBytes = node.Limits.ReceiveBufferBytes,
            RepairBytesPerSecond = node.Limits.RepairBytesPerSecond,
            SendersShareBuffers = node.SenderSharing == SenderSharing.Fair,
            SegmentationOffload = node.SegmentationOffload,
            EphemeralPorts = ephemeral,
            Unicast = node.Dissemination == Dissemination.Unicast,
            CopiesToDeaf = node.Dissemination == Dissemination.Auto,
            TokenIntervalFixed = tokenInterval,
            FeedbackRanges = feedbackRanges,
            StallWarning = node.StallWarning,
            ReassemblyBytes = reassemblyBytes ?? received.ReassemblyBytes,
            ParkedBytes = received.ParkedBytes,
            ParkedBytesOfTopic = received.ParkedBytesOfTopic,
        };
        Service = new MembershipServiceOptions
        {
            Cluster = node.Cluster,
            MulticastRange = node.Service.MulticastNetwork,
            GroupPorts = new GroupPorts(node.Service.FirstGroupPort, node.Service.LastGroupPort, ephemeral),
            Repair = new RepairRules(node.Service.Replicas, node.RingSize),
            Failures = new FailureDetectorOptions
            {
                HeartbeatInterval = node.Service.HeartbeatInterval,
                HeartbeatsMissed = node.Service.MissedHeartbeatLimit,
            },
            TopicSets = topicSets ?? new TopicSetRules(),
            TopicAddresses = new TopicAddressRules
            {
                Most = node.Service.TopicAddresses,
                MostOfNode = node.Service.TopicAddressesPerNode,
            },
            Access = node.Service switch
            {
                { Rights: { } rights } => new ProgramRights(rights, log: null),
                { RightsFile: { } path } => TopicRules.Read(path),
                _ => null,
            },
        };
        Discovery = new DiscoveryOptions
        {
            Port = node.DiscoveryPort,
            Hosts = node.MembershipMode != MembershipMode.Find,
            HostsAtOnce = node.MembershipMode == MembershipMode.Host,
        };
    }

    public QuickSilverOptions Node { get; }

    /// <summary>The protocols that topics can be opened with.</summary>
    public TopicProtocols Protocols { get; init; } = TopicProtocols.BuiltIn;

    public MulticastOptions Multicast { get; private init; }

    /// <summary>Whether pulls wait until the keepers of the packet hold it. For experiments.</summary>
    public bool PullsWaitForKeepers
    {
        init => Multicast = Multicast with { PullsWaitForKeepers = value };
    }

    /// <summary>
    /// Whether packets are sealed. The size of a datagram stays the same, so a packet is smaller.
    /// </summary>
    public bool IsSealed
    {
        get => Multicast.IsSealed;
        init
        {
            if (value && !Multicast.IsSealed)
            {
                Multicast = Multicast with { IsSealed = true, PacketBytes = Multicast.PacketBytes - SealedPacket.TrailerBytes };
                Service = Service with { IsSealed = true };
            }
        }
    }

    /// <summary>How many packets are sealed under one subkey; null: the default. For tests.</summary>
    public long? PacketsPerKeyEpoch
    {
        init => Multicast = value is { } packets ? Multicast with { PacketsPerKeyEpoch = packets } : Multicast;
    }

    /// <summary>The options of the membership service, which the node may host.</summary>
    public MembershipServiceOptions Service { get; private init; }

    /// <summary>
    /// Where a service that the process hosts records admitted and refused nodes, and what the program's rules of access throw.
    /// </summary>
    public ILoggerFactory? Logs
    {
        init => Service = Service with
        {
            Audit = value?.CreateLogger("QuickSilver.Audit"),
            Access = Node.Service.Rights is { } rights
                ? new ProgramRights(rights, value?.CreateLogger("QuickSilver.Membership"))
                : Service.Access,
        };
    }

    /// <summary>How many sends of a message make its topic get an address of its own; null: the default. For tests.</summary>
    public int? LeastSends
    {
        init => Service = value is { } sends
            ? Service with { TopicAddresses = Service.TopicAddresses with { LeastSends = sends } }
            : Service;
    }

    public DiscoveryOptions Discovery { get; private init; }

    /// <summary>What the process shows and trusts, and then packets are sealed; null: it is not protected.</summary>
    public IStreamCredentials? Credentials
    {
        get;
        init
        {
            field = value;
            IsSealed |= value is not null;
            // Nodes do not accept a service with a certificate for nodes only.
            Discovery = value is null ? Discovery with { Keys = null } : Discovery with
            {
                Keys = new DiscoveryKeys(value).Read,
                Hosts = Discovery.Hosts && SecurityComposition.FaultOf(value, PeerRole.Service) is null,
            };
        }
    }
}
