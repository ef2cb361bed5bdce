using System.Net;

namespace QuickSilver;

/// <summary>
/// The options of the membership service that a node hosts if it finds none. They apply to the whole cluster while the node hosts it. A
/// node that another service admitted follows that service. The node takes a copy when it starts, so a later change has no effect.
/// </summary>
public sealed class EmbeddedServiceOptions
{
    /// <summary>
    /// The interval at which members send heartbeats to a service that this node hosts: 50 ms to 1 min; default 1 s. The service removes a
    /// member that misses <see cref="MissedHeartbeatLimit"/> of them. If another service admitted the node, that service's interval
    /// applies.
    /// </summary>
    public TimeSpan HeartbeatInterval { get; set; } = TimeSpan.FromSeconds(1);

    /// <summary>
    /// The number of missed heartbeats after which a service that this node hosts removes a member: 2 to 100; default 10. Caution: a pause
    /// of the machine or of the garbage collector that is longer than this removes a healthy node. A member that the neighbours in its ring
    /// miss, too, is removed after two or three missed heartbeats, whatever this is.
    /// </summary>
    public int MissedHeartbeatLimit { get; set; } = 10;

    /// <summary>
    /// The multicast addresses for regions: an IPv4 network of prefix length 8 to 30 within 224.0.1.0 to 239.255.255.255, or an IPv6
    /// network of prefix length 97 to 126 within ff00::/8. Default 239.192.0.0/14. If the addresses of the nodes are of the other kind, the
    /// default of that kind applies: 239.192.0.0/14, or ff15::5153:8000:0/98.
    /// </summary>
    public IPNetwork MulticastNetwork { get; set; } = new(new IPAddress([239, 192, 0, 0]), 14);

    /// <summary>
    /// The first UDP port for the groups of regions. 1,024 to 65,535; default 10,000. Ephemeral ports of
    /// this system (Linux: <c>ip_local_port_range</c> without <c>ip_local_reserved_ports</c>) are skipped, unless no others are left.
    /// </summary>
    public int FirstGroupPort { get; set; } = 10_000;

    /// <summary>
    /// The last UDP port for the groups of regions: <see cref="FirstGroupPort"/> to 65,535; default 32,767, below the usual ephemeral
    /// ports. Caution: if the range contains ephemeral ports of any member, another program may use a group's port. That member then
    /// receives each packet by repair, and leaves the cluster after 30 s.
    /// </summary>
    public int LastGroupPort { get; set; } = 32_767;

    /// <summary>
    /// The minimum number of members of a region that keep each packet until all members hold it: 1 to
    /// 1,000; default 5. A packet is lost if the sender and all of these members lose it at the same time. More replicas need more memory.
    /// In a region with fewer than twice as many members, all keep everything. (The replication factor k of the QuickSilver papers.)
    /// </summary>
    public int Replicas { get; set; } = 5;

    /// <summary>
    /// The maximum number of topics with a multicast address of their own, in the whole cluster: 0 to 65,536; default 1,024; 0: none. If
    /// the interests of nodes differ, a message of a topic is sent into many regions. With an address of its own, it is sent once. The
    /// service gives addresses to the topics for which this saves most. With security, which is the default beyond the loopback interface,
    /// no topic has an address. Caution: the switches of the network must have room for so many groups in addition to those of the regions.
    /// </summary>
    public int TopicAddresses { get; set; } = 1024;

    /// <summary>
    /// The maximum number of those topics to which one node subscribes: 0 to 1,024; default 64; 0: no topic has an address. Each takes a
    /// socket of the node and a place in the multicast filter of its network card.
    /// </summary>
    public int TopicAddressesPerNode { get; set; } = 64;

    /// <summary>
    /// The path of a JSON file with the rights of identities to publish and subscribe to topics. All processes that may host the
    /// service have the same rules. Requires a secret or a certificate. Null (default): all identities have all rights.
    /// </summary>
    public string? RightsFile { get; set; }

    /// <summary>
    /// The rules of the program, in place of <see cref="RightsFile"/>. All processes that may host the service have the same rules.
    /// Requires a secret or a certificate. Null (default): none.
    /// </summary>
    public ITopicRights? Rights { get; set; }

    internal EmbeddedServiceOptions Copy() => (EmbeddedServiceOptions)MemberwiseClone();
}
