using System.Net;

namespace QuickSilver;

/// <summary>How packets reach the members of a region.</summary>
public enum Dissemination
{
    /// <summary>
    /// One IP multicast per packet and region, whether or not it reaches all members. Members that it does not reach are named in status
    /// and log, and receive what they miss by repair, which is slow.
    /// </summary>
    Multicast = 0,

    /// <summary>A unicast copy per member and packet, for networks without multicast. The node joins no groups.</summary>
    Unicast = 1,

    /// <summary>
    /// One IP multicast per packet and region, and unicast copies to members that report that it does not reach them, until it does. On a
    /// network without multicast, those are all members, within 3 s of the first message.
    /// </summary>
    Auto = 2,
}

/// <summary>The options of a node. All values are checked at start. An invalid value is refused with its name and range.</summary>
public sealed record QuickSilverOptions
{
    /// <summary>
    /// The "host:port" of the membership service. Null (default): embedded membership. The node looks for a service on the network of its
    /// interface, and hosts one if there is none.
    /// </summary>
    public string? MembershipService { get; set; }

    /// <summary>The name of the cluster. Nodes of different clusters ignore each other. 1 to 64 characters. Default "default".</summary>
    public string Cluster { get; set; } = "default";

    /// <summary>The IPv4 address of the network interface. Default: loopback, so a first program needs no network.</summary>
    public IPAddress Interface { get; set; } = IPAddress.Loopback;

    /// <summary>
    /// The UDP port for the discovery of embedded services. 1 to 65,535; default 7,402. Caution: clusters that differ only in this port
    /// still share the discovery group.
    /// </summary>
    public int DiscoveryPort { get; set; } = 7402;

    /// <summary>
    /// Multicast, unicast copies, or both as the network requires. Default: <see cref="Dissemination.Auto"/>. Nodes of one cluster may
    /// differ: the sender's option applies, and a node with <see cref="Dissemination.Unicast"/> receives copies from all senders except
    /// those with <see cref="Dissemination.Multicast"/>. Discovery without <see cref="MembershipService"/> always needs multicast.
    /// </summary>
    public Dissemination Dissemination { get; set; } = Dissemination.Auto;

    /// <summary>The first address of the multicast range for regions. Default 239.192.0.0.</summary>
    public IPAddress MulticastBase { get; set; } = IPAddress.Parse("239.192.0.0");

    /// <summary>The prefix length of the multicast range, 8 to 30. Default 14.</summary>
    public int MulticastPrefix { get; set; } = 14;

    /// <summary>
    /// The first UDP port for the groups of regions, if this node hosts the service. 1,024 to 65,535; default 10,000. Ephemeral ports of
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
    /// The time to live of multicast packets, which is the maximum number of routers plus one: 0 (this machine only) to 255; default 1
    /// (this network only).
    /// </summary>
    public int MulticastTimeToLive { get; set; } = 1;

    /// <summary>The maximum size of a datagram in bytes, header included: 576 to 65,507; default 1,472 (an MTU of 1,500).</summary>
    public int PacketBytes { get; set; } = 1472;

    /// <summary>
    /// The maximum number of bytes that a node retains of messages that it sent and that are not yet stable: 1 MiB to 4 GiB; default 64
    /// MiB. More messages wait at the publisher. Retained messages are in packet memory (<see cref="BufferBytes"/>), so the limit is lower
    /// if receivers and reserves leave less of it.
    /// </summary>
    public long RetentionBytes { get; set; } = 64L << 20;

    /// <summary>The maximum number of bytes queued between publishers and the core thread: 64 KiB to 1 GiB; default 4 MiB.</summary>
    public long PublishQueueBytes { get; set; } = 4L << 20;

    /// <summary>
    /// The size of packet memory for received packets, packets kept for repair, and sent packets: 32 MiB to 16 GiB; default 256 MiB. With
    /// <see cref="PacketBytes"/> above 21,845 the minimum is larger, up to 55 MiB, so that the largest message fits. The memory is reserved
    /// at start, and the system commits pages when they are first used.
    /// </summary>
    /// <remarks>
    /// Every 16 MiB above 64 MiB let one more sender keep a full window of 4 MiB in flight to this node: 11 senders with the default. With
    /// more senders or less memory, each sender's window is smaller. When received packets have used their share, a node accepts only the
    /// next packet of each stream and drops the others, which are repaired later (and counted as dropped packets). This is slow, but all
    /// streams make progress with up to 704 senders with the minimum, and 5,632 with the default. A message needs up to 64 KiB at once for
    /// each region of its topic. A process whose garbage collector limit is lower than this option fails to start.
    /// </remarks>
    public long BufferBytes { get; set; } = 256L << 20;

    /// <summary>The receive buffer size requested from the kernel per region, in bytes: 64 KiB to 1 GiB; default 8 MiB.</summary>
    public int ReceiveBufferBytes { get; set; } = 8 << 20;

    /// <summary>
    /// The interval at which members send heartbeats to a service that this node hosts: 50 ms to 1 min; default 1 s. The service removes a
    /// member that misses <see cref="MissedHeartbeatLimit"/> of them. If another service admitted the node, that service's interval
    /// applies.
    /// </summary>
    public TimeSpan HeartbeatInterval { get; set; } = TimeSpan.FromSeconds(1);

    /// <summary>
    /// The number of missed heartbeats after which a service that this node hosts removes a member: 2 to 100; default 10. Caution: a pause
    /// of the machine or of the garbage collector that is longer than this removes a healthy node.
    /// </summary>
    public int MissedHeartbeatLimit { get; set; } = 10;

    /// <summary>
    /// The minimum number of members of a region that keep each packet until all members hold it, if this node hosts the service: 1 to
    /// 1,000; default 5. A packet is lost if the sender and all of these members lose it at the same time. More replicas need more memory.
    /// In a region with fewer than twice as many members, all keep everything. (The replication factor k of the QuickSilver papers.)
    /// </summary>
    public int Replicas { get; set; } = 5;

    /// <summary>
    /// The maximum number of bytes per second that a node sends again, for itself and for others, in all regions together: 65,536 to
    /// 4,294,967,296; default 67,108,864 (half of a gigabit link). Set it to half of the link's capacity if that is less. Otherwise repairs
    /// after a large loss can displace new data. Repairs above the limit are sent later, or by another member.
    /// </summary>
    public long RepairBytesPerSecond { get; set; } = 64L << 20;

    /// <summary>
    /// Whether to use segmentation offload. True (default): if the system supports it, which is probed at start. False: single datagrams.
    /// </summary>
    public bool SegmentationOffload { get; set; } = true;

    /// <summary>
    /// Whether the core thread polls instead of sleeping. Default: false. Polling saves the time to wake a thread, twice per round trip.
    /// Caution: it keeps a processor busy for the lifetime of the node. With fewer processors than such nodes and busy threads, everything
    /// becomes slower.
    /// </summary>
    public bool BusyPoll { get; set; }

    /// <summary>
    /// The time without progress after which a wait (of a publisher, a view, a reader, a repair, or a topic that is being opened) is
    /// reported, with the node it waits for and the reason: in <see cref="NodeStatus.Reason"/>, in a log message and in
    /// <see cref="NodeCounters.Stalls"/>. 100 ms to 1 hour; default 5 s.
    /// </summary>
    public TimeSpan StallWarning { get; set; } = TimeSpan.FromSeconds(5);

    /// <summary>
    /// The maximum time that a starting node looks for a membership service before the start fails: 100 ms to 10 min; default 10 s.
    /// </summary>
    public TimeSpan StartTimeout { get; set; } = TimeSpan.FromSeconds(10);

    // Seats of a token ring at most; for tests and experiments.
    internal int RingSize { get; set; } = 16;
}
