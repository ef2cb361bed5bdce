
namespace QuickSilver;

/// <summary>How packets reach the members of a region.</summary>
public enum Dissemination
{
    /// <summary>
    /// One IP multicast per packet and region, and unicast copies to members that report that it does not reach them, until it does. On a
    /// network without multicast, those are all members, within 3 s of the first message.
    /// </summary>
    Auto = 0,

    /// <summary>
    /// One IP multicast per packet and region, whether or not it reaches all members. Members that it does not reach are named in status
    /// and log, and receive what they miss by repair, which is slow.
    /// </summary>
    Multicast = 1,

    /// <summary>A unicast copy per member and packet, for networks without multicast. The node joins no groups.</summary>
    Unicast = 2,
}

/// <summary>How senders that send to a node at the same time share its receive buffer.</summary>
public enum SenderSharing
{
    /// <summary>
    /// Each has the same share. The more senders send as much as they can, the less each has in flight, and the buffer does not overflow.
    /// </summary>
    Fair = 0,

    /// <summary>
    /// Each has half of the buffer in flight until packets are dropped and repaired, and then less. Three senders or more overflow the
    /// buffer from time to time. Use it if bursts of different senders rarely coincide.
    /// </summary>
    Compete = 1,
}

/// <summary>
/// The options of a node. All values are checked at start. An invalid value is refused with its key, such as <c>Limits:BufferBytes</c>, and
/// its range. The node takes a copy of the options and of their groups when it starts, so a later change has no effect.
/// </summary>
public sealed class QuickSilverOptions
{
    /// <summary>How the node comes to a membership service. Default: it finds or hosts one.</summary>
    public MembershipOptions Membership { get; set; } = new();

    /// <summary>The name of the cluster. Nodes of different clusters ignore each other. 1 to 64 characters. Default "default".</summary>
    public string Cluster { get; set; } = "default";

    /// <summary>
    /// What people call this node, in the logs, the status and the tools of all nodes of the cluster. 1 to 128 bytes in UTF-8 of letters,
    /// digits and the characters - . _ @ : / +. Several nodes may have the same name. Null (default): the names of the application and of
    /// the machine, such as "orders@web-3". In a host, the application's name is that of the host's environment.
    /// </summary>
    public string? Name { get; set; }

    /// <summary>
    /// The network interface: its address of IPv4 ("10.0.0.5") or IPv6 ("fd00::5"), its name ("eth0"), a subnet with one address of this
    /// machine ("10.0.0.0/8"), or "auto" (<see cref="NodeInterface.Auto"/>). All nodes of a cluster use addresses of one kind. Default:
    /// 127.0.0.1, the loopback interface, so a first program needs no network. Any other interface requires <see cref="Security"/>.
    /// </summary>
    public NodeInterface Interface { get; set; } = NodeInterface.Loopback;

    /// <summary>
    /// The UDP port for the discovery of embedded services. 1 to 65,535; default 7,402. Caution: clusters that differ only in this port
    /// still share the discovery group.
    /// </summary>
    public int DiscoveryPort { get; set; } = 7402;

    /// <summary>
    /// Multicast, unicast copies, or both as the network requires. Default: <see cref="Dissemination.Auto"/>. Nodes of one cluster may
    /// differ: the sender's option applies, and a node with <see cref="Dissemination.Unicast"/> receives copies from all senders except
    /// those with <see cref="Dissemination.Multicast"/>. Discovery without <see cref="MembershipOptions.Servers"/> always needs multicast.
    /// </summary>
    public Dissemination Dissemination { get; set; }

    /// <summary>
    /// How senders of a region that send at the same time share the receive buffer of this node (<see
    /// cref="NodeLimits.ReceiveBufferBytes"/>). Default: <see cref="SenderSharing.Fair"/>. Nodes of one cluster may differ: the smallest
    /// share that a member of the region offers applies.
    /// </summary>
    public SenderSharing SenderSharing { get; set; } = SenderSharing.Fair;

    /// <summary>
    /// How the node proves that it belongs to its cluster: a secret, a certificate, or neither of them, by name
    /// (<see cref="SecurityOptions.None"/>). Required beyond the loopback interface: without any of the three, the start fails there.
    /// </summary>
    public SecurityOptions Security { get; set; } = new();

    /// <summary>The memory that the node may use, and the rate of its repairs.</summary>
    public NodeLimits Limits { get; set; } = new();

    /// <summary>
    /// The directory for what this node keeps on disk, such as the logs of durable topics. Each node has one of its own. It is created if
    /// it does not exist, and is locked while the node runs: the start fails if another node has it, of any process, or if the node cannot
    /// create, write and lock files in it. Use a local disk that keeps what was synced: <c>qsm doctor --storage</c> checks it. A relative
    /// path begins at the current directory of the process. Null (default): the node keeps nothing on disk.
    /// </summary>
    public string? StorageDirectory { get; set; }

    /// <summary>
    /// The time to live of multicast packets, which is the maximum number of routers plus one: 0 (this machine only) to 255; default 1
    /// (this network only).
    /// </summary>
    public int MulticastTimeToLive { get; set; } = 1;

    /// <summary>
    /// The maximum size of a datagram in bytes, header included: 576 to 65,507, with <see cref="Security"/> at least 612, because a sealed
    /// packet has 36 bytes more; default 1,472 (an MTU of 1,500; 1,452 over IPv6). Nodes find out whether packets of this size pass, and
    /// send smaller ones to members whose path carries less.
    /// </summary>
    public int PacketBytes { get; set; } = DefaultPacketBytes;

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
    /// The time for which one call of a handler of <see cref="ITopicSubscriber{T}.SubscribeInline"/> may block the core thread before its
    /// endpoint is closed: 1 s to 24 hours; default 2 s. It is measured in steps of half a second, from when the core thread is a second
    /// late. The endpoint is closed with <see cref="SlowHandlerException"/> when the handler returns. A handler that does not return cannot
    /// be detached: the log and <see cref="NodeStatus.Reason"/> name it, and the membership service removes the node.
    /// </summary>
    public TimeSpan HandlerLimit { get; set; } = TimeSpan.FromSeconds(2);

    /// <summary>
    /// The maximum time that a starting node looks for a membership service before the start fails: 100 ms to 10 min; default 10 s.
    /// </summary>
    public TimeSpan StartTimeout { get; set; } = TimeSpan.FromSeconds(10);

    /// <summary>
    /// The maximum number of topics that the meter names: 0 to 10,000; default 0. Each has three series with its name as the tag
    /// <c>messaging.destination.name</c>: messages sent, consumed, and waiting for readers. The first topics that the node opens are named,
    /// and the others are summed as <c>_OTHER</c>. With 0, the meter has only sums over all topics, and no memory is used for it.
    /// Caution: each named topic is a series for each node in the system that stores them.
    /// </summary>
    public int MeteredTopics { get; set; }

    internal const int DefaultPacketBytes = 1472;
    internal const int DefaultPacketBytesV6 = 1452;

    /// <summary>A copy that shares no group with this, and is then changed.</summary>
    internal QuickSilverOptions Copy(Action<QuickSilverOptions>? change = null)
    {
        var copy = (QuickSilverOptions)MemberwiseClone();
        // A group that is null is refused later, with its key.
        copy.Membership = Membership?.Copy()!;
        copy.Security = Security?.Copy()!;
        copy.Limits = Limits?.Copy()!;
        change?.Invoke(copy);
        return copy;
    }

    // The application's name in the default of Name; null: that of the process.
    internal string? Application { get; set; }

    // Seats of a token ring at most; for tests and experiments.
    internal int RingSize { get; set; } = 16;
}
