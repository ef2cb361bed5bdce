using Microsoft.Extensions.Logging;
using QuickSilver.Core.Sealing;
using QuickSilver.Core.Security.Identities;
using QuickSilver.Core.Transport.Tls;
using QuickSilver.Membership.Client;
using QuickSilver.Membership.Regions.Addresses;
using QuickSilver.Membership.Regions.Sets;
using QuickSilver.Membership.Service;
using QuickSilver.Membership.Service.Access;
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
    private ProtocolOptions()
    {
    }

    /// <summary>The node's options.</summary>
    public required QuickSilverOptions Node { get; init; }

    /// <summary>The protocols that topics can be opened with.</summary>
    public required TopicProtocols Protocols { get; init; }

    /// <summary>What the process shows and trusts; null: it is not protected.</summary>
    public required IStreamCredentials? Credentials { get; init; }

    public required MulticastOptions Multicast { get; init; }

    /// <summary>The options of the membership service, which the node may host.</summary>
    public required MembershipServiceOptions Service { get; init; }

    public required DiscoveryOptions Discovery { get; init; }

    /// <param name="node">The node's options, which must not change any more.</param>
    /// <param name="setup">What else the layers below need; null: nothing.</param>
    public static ProtocolOptions Of(QuickSilverOptions node, ProtocolSetup? setup = null)
    {
        setup ??= new ProtocolSetup();
        bool isSealed = setup.IsSealed || setup.Credentials is not null;
        return new ProtocolOptions
        {
            Node = node,
            Protocols = setup.Protocols,
            Credentials = setup.Credentials,
            Multicast = MulticastOf(node, setup, isSealed),
            Service = ServiceOf(node, setup, isSealed),
            Discovery = DiscoveryOf(node, setup.Credentials),
        };
    }

    // The size of a datagram does not depend on the seal, so a packet that is sealed is smaller.
    private static MulticastOptions MulticastOf(QuickSilverOptions node, ProtocolSetup setup, bool isSealed)
    {
        var received = new ReceivedShares(node.Limits.ReceivedMessageBytes);
        return new MulticastOptions
        {
            ClusterId = TopicId.Of(node.Cluster),
            PacketBytes = node.PacketBytes - (isSealed ? SealedPacket.TrailerBytes : 0),
            IsSealed = isSealed,
            PacketsPerKeyEpoch = setup.PacketsPerKeyEpoch ?? PacketSealer.DefaultPacketsPerEpoch,
            RetentionBytes = node.Limits.RetentionBytes,
            ReceiveBufferBytes = node.Limits.ReceiveBufferBytes,
            RepairBytesPerSecond = node.Limits.RepairBytesPerSecond,
            SendersShareBuffers = node.SenderSharing == SenderSharing.Fair,
            SegmentationOffload = node.SegmentationOffload,
            EphemeralPorts = setup.Ephemeral,
            Unicast = node.Dissemination == Dissemination.Unicast,
            CopiesToDeaf = node.Dissemination == Dissemination.Auto,
            StallWarning = node.StallWarning,
            ReassemblyBytes = setup.ReassemblyBytes ?? received.ReassemblyBytes,
            ParkedBytes = received.ParkedBytes,
            ParkedBytesOfTopic = received.ParkedBytesOfTopic,
            Experiments = setup.Experiments,
        };
    }

    private static MembershipServiceOptions ServiceOf(QuickSilverOptions node, ProtocolSetup setup, bool isSealed)
    {
        var addresses = new TopicAddressRules
        {
            Most = node.Membership.Hosted.TopicAddresses,
            MostOfNode = node.Membership.Hosted.TopicAddressesPerNode,
        };
        return new MembershipServiceOptions
        {
            Cluster = node.Cluster,
            IsSealed = isSealed,
            MulticastRange = node.Membership.Hosted.MulticastNetwork,
            GroupPorts = new GroupPorts(node.Membership.Hosted.FirstGroupPort, node.Membership.Hosted.LastGroupPort, setup.Ephemeral),
            Repair = new RepairRules(node.Membership.Hosted.Replicas, node.RingSize),
            Failures = new FailureDetectorOptions
            {
                HeartbeatInterval = node.Membership.Hosted.HeartbeatInterval,
                HeartbeatsMissed = node.Membership.Hosted.MissedHeartbeatLimit,
            },
            TopicSets = setup.TopicSets ?? new TopicSetRules(),
            TopicAddresses = setup.LeastSends is { } sends ? addresses with { LeastSends = sends } : addresses,
            Access = AccessOf(node.Membership.Hosted, setup.Logs),
            Audit = setup.Logs?.CreateLogger("QuickSilver.Audit"),
        };
    }

    private static ITopicAccess? AccessOf(EmbeddedServiceOptions service, ILoggerFactory? logs) => service switch
    {
        { Rights: { } rights } => new ProgramRights(rights, logs?.CreateLogger("QuickSilver.Membership")),
        { RightsFile: { } path } => TopicRules.Read(path),
        _ => null,
    };

    // Nodes do not accept a service with a certificate for nodes only.
    private static DiscoveryOptions DiscoveryOf(QuickSilverOptions node, IStreamCredentials? credentials) => new()
    {
        Port = node.DiscoveryPort,
        Keys = credentials is null ? null : new DiscoveryKeys(credentials).Read,
        Hosts = node.Membership.Mode != MembershipMode.Find
            && (credentials is null || SecurityComposition.FaultOf(credentials, PeerRole.Service) is null),
        HostsAtOnce = node.Membership.Mode == MembershipMode.Host,
    };
}
