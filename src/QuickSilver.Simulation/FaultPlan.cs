namespace QuickSilver.Simulation;

/// <summary>Kinds of faults that a <see cref="FaultPlan"/> may draw.</summary>
[Flags]
public enum FaultKinds
{
    /// <summary>No faults.</summary>
    None = 0,

    /// <summary>Datagrams are lost: uniformly, in bursts, or at one node.</summary>
    Loss = 1,

    /// <summary>Datagrams are delayed, duplicated or reordered.</summary>
    Reordering = 2,

    /// <summary>Some nodes are cut off from the rest, in both directions or one. Then the network heals.</summary>
    Partition = 4,

    /// <summary>A node's process ends, and its peers notice it immediately or not at all. The process restarts later.</summary>
    Crash = 8,

    /// <summary>A node's process pauses, as in a long garbage collection, and resumes with outdated state.</summary>
    Pause = 16,

    /// <summary>A node's system has no buffers for sends, or only very small receive buffers.</summary>
    MemoryShortage = 32,

    /// <summary>
    /// The faults that occur on every network and machine: those above. This is the default of a plan, and it never changes.
    /// </summary>
    Common = Loss | Reordering | Partition | Crash | Pause | MemoryShortage,

    /// <summary>
    /// A node's process ends, and another one replaces it before any member notices. The last datagrams of the first process arrive only
    /// then, including answers to discovery.
    /// </summary>
    Restart = 64,

    /// <summary>A node's process is slow, as with a handler that computes or a processor that others use.</summary>
    Slowness = 128,

    /// <summary>A node's wall clock steps forward or back by up to a day, or its clocks run too fast or too slow.</summary>
    Clock = 256,

    /// <summary>Datagrams above some size are lost silently, on all links.</summary>
    BlackHole = 512,

    /// <summary>Multicast stops for one node or for all, while unicast works.</summary>
    MulticastLoss = 1024,

    /// <summary>
    /// The membership service ends and restarts, or moves if nodes host it; a node leaves and joins repeatedly; many nodes crash and
    /// restart at the same time.
    /// </summary>
    Membership = 2048,

    /// <summary>A node ignores repair requests, so others must get the packets they lack from each other, or wait.</summary>
    RepairDeafness = 4096,

    /// <summary>A node receives datagrams of another version and of unknown kinds among the valid ones.</summary>
    StrangerPackets = 8192,

    /// <summary>
    /// Datagrams from a node, to it, or both are lost while its streams work, as behind a firewall or at a wrong interface.
    /// </summary>
    DeadDatagrams = 16384,

    /// <summary>Some datagrams to a node have a bit flipped, and some are replayed up to three seconds later.</summary>
    Replay = 32768,

    /// <summary>A node's interface goes down and comes back, sometimes without its group memberships, which come back later.</summary>
    Interface = 65536,

    /// <summary>
    /// The disk of a node has little room left or none, so writes fail, in part. As the other faults of disks, it concerns nodes with
    /// <see cref="QuickSilverOptions.StorageDirectory"/>.
    /// </summary>
    DiskFull = 131072,

    /// <summary>
    /// Some writes, syncs and reads of a node's disk fail, writes in part. If the power is lost meanwhile, sectors are missing among those
    /// that were written and not synced.
    /// </summary>
    DiskErrors = 262144,

    /// <summary>The file system of a node cannot be written, as after an error that its kernel found.</summary>
    DiskReadOnly = 524288,

    /// <summary>The disk of a node takes up to 200 ms longer for each operation.</summary>
    DiskSlowness = 1048576,

    /// <summary>The disk of a node is gone and comes back. What was not synced is lost, as with the power.</summary>
    DiskAbsence = 2097152,

    /// <summary>Bits of what is stored on the disk of a node change. No node can prevent that what they change is lost to it.</summary>
    DiskRot = 4194304,

    /// <summary>
    /// The disk of a node reports syncs as done that it does not do. No node can keep on it what it loses with the power: the fault shows
    /// that a check finds such a loss.
    /// </summary>
    LostSyncs = 8388608,
}

/// <summary>
/// Describes which faults may occur and how severe they are. The run's seed determines when and where they occur. Faults of one kind follow
/// each other. Faults of different kinds may overlap. Times are virtual and count from the start of the faults.
/// </summary>
/// <remarks>
/// Durations matter: the membership service removes a node whose pause or partition lasts longer than
/// <see cref="EmbeddedServiceOptions.HeartbeatInterval"/> times <see cref="EmbeddedServiceOptions.MissedHeartbeatLimit"/>.
/// </remarks>
public sealed record FaultPlan
{
    /// <summary>The kinds of faults. Default: <see cref="FaultKinds.Common"/>.</summary>
    public FaultKinds Kinds { get; init; } = FaultKinds.Common;

    /// <summary>The numbers of the nodes that may be paused, cut off, short of buffers and so on. Null (default): all nodes.</summary>
    public IReadOnlyList<int>? Nodes { get; init; }

    /// <summary>
    /// The numbers of the nodes whose processes may end. Null (default): the same as <see cref="Nodes"/>. The membership service's own
    /// machine need not be among them, because only <see cref="FaultKinds.Membership"/> ends it.
    /// </summary>
    public IReadOnlyList<int>? Crashable { get; init; }

    /// <summary>The earliest time of a fault. Not negative; default 0.</summary>
    public TimeSpan From { get; init; }

    /// <summary>The time at which all faults are healed. Not before <see cref="From"/>; default 5 s.</summary>
    public TimeSpan Until { get; init; } = TimeSpan.FromSeconds(5);

    /// <summary>The maximum duration of a fault. Default 2 s.</summary>
    public TimeSpan LongestFault { get; init; } = TimeSpan.FromSeconds(2);

    /// <summary>The maximum time between two faults of one kind. Default 2 s.</summary>
    public TimeSpan LongestRest { get; init; } = TimeSpan.FromSeconds(2);

    /// <summary>The maximum duration of a pause. Default 1 s.</summary>
    public TimeSpan LongestPause { get; init; } = TimeSpan.FromSeconds(1);

    /// <summary>The maximum duration of a partition. Default 2 s.</summary>
    public TimeSpan LongestPartition { get; init; } = TimeSpan.FromSeconds(2);

    /// <summary>
    /// The share of partitions, 0 to 1, in which one of the nodes that are not cut off still reaches both sides. Then the sides hear
    /// different nodes but can exchange information. Default 0.
    /// </summary>
    public double BridgeShare { get; init => field = LinkModel.Probability(value); }

    /// <summary>The maximum share of lost datagrams, 0 to 1. Default 0.1.</summary>
    public double HighestLoss { get; init => field = LinkModel.Probability(value); } = 0.1;
}
