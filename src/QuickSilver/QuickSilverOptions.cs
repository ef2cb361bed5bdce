using System.Net;

namespace QuickSilver;

/// <summary>How packets reach the members of a region.</summary>
public enum Dissemination
{
    /// <summary>
    /// One IP multicast per packet and region, whether or not it reaches all members. Those that it does not reach are named, and get
    /// what they miss by repair: slowly.
    /// </summary>
    Multicast = 0,

    /// <summary>A copy per member and packet: for networks that are known to have no multicast. The node joins no groups.</summary>
    Unicast = 1,

    /// <summary>
    /// One IP multicast per packet and region, and copies to those members that say that it does not reach them, until it does. On a
    /// network without multicast these are all of them, within 3 s of the first message.
    /// </summary>
    Auto = 2,
}

/// <summary>What a node is started with. Every value is checked at start; a wrong one is refused by name, value and range.</summary>
public sealed record QuickSilverOptions
{
    /// <summary>
    /// The membership service's "host:port". Null (default): embedded membership; the node looks for a service on
    /// its interface's network and hosts one when there is none.
    /// </summary>
    public string? MembershipService { get; set; }

    /// <summary>The cluster's name: nodes of different clusters never hear each other. 1 to 64 characters. Default "default".</summary>
    public string Cluster { get; set; } = "default";

    /// <summary>The IPv4 address of the interface to use. Default: loopback, so a first program needs no network.</summary>
    public IPAddress Interface { get; set; } = IPAddress.Loopback;

    /// <summary>UDP port on which embedded services are found. 1 to 65535; default 7402. Danger: clusters apart by port only
    /// still share the discovery group.</summary>
    public int DiscoveryPort { get; set; } = 7402;

    /// <summary>
    /// Multicast, unicast copies, or both as the network needs it. Default: <see cref="Dissemination.Auto"/>. Nodes of one cluster
    /// may differ: it is the sender's that counts, and a node with <see cref="Dissemination.Unicast"/> gets copies of all senders
    /// but those with <see cref="Dissemination.Multicast"/>. Discovery without <see cref="MembershipService"/> needs multicast always.
    /// </summary>
    public Dissemination Dissemination { get; set; } = Dissemination.Auto;

    /// <summary>The first address of the range that regions take their multicast addresses from. Default 239.192.0.0.</summary>
    public IPAddress MulticastBase { get; set; } = IPAddress.Parse("239.192.0.0");

    /// <summary>The prefix length of that range, 8 to 30. Default 14.</summary>
    public int MulticastPrefix { get; set; } = 14;

    /// <summary>
    /// The first of the UDP ports that regions take for their groups, where this node hosts the service: 1,024 to 65,535; default
    /// 10,000. Ports that this system gives to sockets which ask for any (Linux: <c>ip_local_port_range</c> without
    /// <c>ip_local_reserved_ports</c>) are left out, unless nothing else is left.
    /// </summary>
    public int FirstGroupPort { get; set; } = 10_000;

    /// <summary>
    /// The last of them: <see cref="FirstGroupPort"/> to 65,535; default 32,767, below what systems use for sockets that ask for any
    /// port. Danger: where such ports are among them at any member, another program may have a group's port; that member then gets each
    /// packet by repair, and leaves the cluster after 30 s.
    /// </summary>
    public int LastGroupPort { get; set; } = 32_767;

    /// <summary>
    /// How many routers a multicast packet may pass, plus one: 0 (this machine only) to 255; default 1 (this network only).
    /// </summary>
    public int MulticastTimeToLive { get; set; } = 1;

    /// <summary>Bytes of one datagram at most, header included: 576 to 65,507; default 1,472 (an MTU of 1,500).</summary>
    public int PacketBytes { get; set; } = 1472;

    /// <summary>
    /// Bytes a node keeps of what it sent and is not yet stable: 1 MiB to 4 GiB; default 64 MiB. More waits at the publisher. They
    /// lie in packet memory (<see cref="BufferBytes"/>), so what receivers and reserves hold of it is the limit where that leaves less.
    /// </summary>
    public long RetentionBytes { get; set; } = 64L << 20;

    /// <summary>Bytes that may wait between publishers and the core thread: 64 KiB to 1 GiB; default 4 MiB.</summary>
    public long PublishQueueBytes { get; set; } = 4L << 20;

    /// <summary>
    /// Packet memory in all, for what is received, kept for repair, and sent: 32 MiB to 16 GiB; default 256 MiB. With
    /// <see cref="PacketBytes"/> above 21,845 the least is more, up to 55 MiB, so that the largest message fits. Reserved at start; the
    /// system gives the pages as they are first used.
    /// </summary>
    /// <remarks>
    /// Every 16 MiB beyond 64 MiB let one more sender keep a full window of 4 MiB on the way to this node: 11 senders with the default.
    /// With more senders, or less memory, each sender's window is smaller. When received packets use up their share, a node takes
    /// only the next packet of each stream and drops the others, which are repaired later (counted as packets dropped): slow, but
    /// no stream stands still up to 704 senders with the least memory, and 5,632 with the default. A message takes up to 64 KiB at
    /// once for each region that its topic lies in. A process with a garbage collector limit below this fails at start.
    /// </remarks>
    public long BufferBytes { get; set; } = 256L << 20;

    /// <summary>Receive buffer asked of the kernel per region, in bytes: 64 KiB to 1 GiB; default 8 MiB.</summary>
    public int ReceiveBufferBytes { get; set; } = 8 << 20;

    /// <summary>
    /// How often members tell a service that this node hosts that they live: 50 ms to 1 min; default 1 s.
    /// <see cref="HeartbeatsMissed"/> of them missed mean removal. Where another service took the node in, that one says how often.
    /// </summary>
    public TimeSpan HeartbeatInterval { get; set; } = TimeSpan.FromSeconds(1);

    /// <summary>
    /// Heartbeats missed until a service that this node hosts removes a member: 2 to 100; default 10. Danger: a pause of the
    /// machine or of the collector that is longer than these makes a healthy node start anew.
    /// </summary>
    public int HeartbeatsMissed { get; set; } = 10;

    /// <summary>
    /// Members of a region that keep each packet until all members hold it, at least, where this node hosts the service: 1 to
    /// 1,000; default 5. What the sender and all of these lose in one moment is lost; more replicas need more memory. In a region
    /// of fewer than twice as many members, all keep everything. (Replication factor k of the QuickSilver papers.)
    /// </summary>
    public int Replicas { get; set; } = 5;

    /// <summary>
    /// Bytes a second that a node sends again at most, for itself and for others, in all regions together: 65,536 to
    /// 4,294,967,296; default 67,108,864 (half of a gigabit link). Set it to a half of what the link carries, where that is less:
    /// else repairs after a great loss can crowd out what is new. What is over the limit comes later, or from another member.
    /// </summary>
    public long RepairBytesPerSecond { get; set; } = 64L << 20;

    /// <summary>Segmentation offload: probed at start when true (default); false forces single datagrams.</summary>
    public bool SegmentationOffload { get; set; } = true;

    /// <summary>
    /// The node's core thread polls instead of sleeping: false by default. Saves the time that waking a thread takes, twice per
    /// round trip. Danger: it keeps a processor busy for as long as the node lives; where there are fewer processors than such
    /// nodes and busy threads, everything becomes slower.
    /// </summary>
    public bool Spin { get; set; }

    /// <summary>
    /// What waits for longer than this without progress (a publisher, a view, a reader, a repair, a topic that is to be opened) is named,
    /// with whom it waits for and why: in <see cref="NodeStatus.Reason"/>, in a log message and in <see cref="NodeCounters.Stalls"/>.
    /// 100 ms to 1 hour; default 5 s.
    /// </summary>
    public TimeSpan StallWarning { get; set; } = TimeSpan.FromSeconds(5);

    /// <summary>
    /// How long a starting node looks for a membership service before it says that there is none: 100 ms to 10 min; default 10 s.
    /// </summary>
    public TimeSpan StartTimeout { get; set; } = TimeSpan.FromSeconds(10);

    // Seats of a token ring at most; for tests and experiments.
    internal int RingSize { get; set; } = 16;
}
