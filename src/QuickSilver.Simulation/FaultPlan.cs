namespace QuickSilver.Simulation;

/// <summary>Kinds of faults that a <see cref="FaultPlan"/> may draw.</summary>
[Flags]
public enum FaultKinds
{
    /// <summary>None.</summary>
    None = 0,

    /// <summary>Datagrams are lost: evenly, in bursts, or at one node.</summary>
    Loss = 1,

    /// <summary>Datagrams come late, twice, or behind later ones.</summary>
    Disorder = 2,

    /// <summary>Some nodes are cut off from the rest, both ways or one way. Then the network heals.</summary>
    Partition = 4,

    /// <summary>A node's process ends, noticed by its peers at once or not at all, and is started anew a while later.</summary>
    Crash = 8,

    /// <summary>A node's process stands still, as in a long garbage collection, and goes on with what it believed before.</summary>
    Pause = 16,

    /// <summary>A node's system has no room for sends, or only tiny receive buffers.</summary>
    Shortage = 32,

    /// <summary>What every network and machine does sooner or later: those above, and what a plan draws by default.</summary>
    Common = Loss | Disorder | Partition | Crash | Pause | Shortage,

    /// <summary>
    /// A node's process ends, and another runs in its place before anybody has missed the first, whose last datagrams arrive only
    /// then: answers to who looked for the membership service among them.
    /// </summary>
    Restart = 64,

    /// <summary>A node's process takes long for all that it does, as with a handler that computes or a processor that others use.</summary>
    Slowness = 128,

    /// <summary>A node's wall clock is set forward or back by up to a day, or its clocks run too fast or too slow.</summary>
    Clock = 256,

    /// <summary>Datagrams over some size vanish without a word, on all links.</summary>
    BlackHole = 512,

    /// <summary>What is sent to a group reaches one node, or all, no more, while unicast works.</summary>
    MulticastLoss = 1024,

    /// <summary>
    /// The membership service ends and begins anew, or elsewhere where nodes host it; a node comes and goes; many nodes end at one
    /// moment, and come back at one moment.
    /// </summary>
    Membership = 2048,

    /// <summary>A node hears no requests for repair: what others lack of it, they must have from each other or wait for.</summary>
    RepairDeafness = 4096,

    /// <summary>A node is sent datagrams of another version and of unknown kinds among the genuine ones.</summary>
    Foreign = 8192,

    /// <summary>
    /// Datagrams from a node, to it, or both vanish while its streams live, as behind a firewall or at a wrong interface.
    /// </summary>
    DeadDatagrams = 16384,

    /// <summary>
    /// Of the datagrams that go to a node some have a bit flipped on the way, and some come again up to three seconds later.
    /// </summary>
    Replay = 32768,

    /// <summary>
    /// A node's interface goes down and comes back, at times without the groups that it was in: those come back later.
    /// </summary>
    Interface = 65536,

    /// <summary>All of them.</summary>
    All = Common | Restart | Slowness | Clock | BlackHole | MulticastLoss | Membership | RepairDeafness | Foreign
        | DeadDatagrams | Replay | Interface,
}

/// <summary>
/// What may go wrong and how hard; when and where is drawn from the run's seed. Faults of one kind follow each other, those of
/// different kinds overlap freely. Times are virtual and count from where the faults begin.
/// </summary>
/// <remarks>
/// The lengths matter: a pause or a partition that lasts longer than <see cref="QuickSilverOptions.HeartbeatInterval"/> times
/// <see cref="QuickSilverOptions.HeartbeatsMissed"/> makes the membership service remove the node.
/// </remarks>
public sealed record FaultPlan
{
    /// <summary>Which kinds. Default: <see cref="FaultKinds.Common"/>.</summary>
    public FaultKinds Kinds { get; init; } = FaultKinds.Common;

    /// <summary>The numbers of the nodes that may be paused, cut off, short of room and so on. Null (default): all nodes.</summary>
    public IReadOnlyList<int>? Nodes { get; init; }

    /// <summary>
    /// The numbers of the nodes whose processes may end. Null (default): the same as <see cref="Nodes"/>. The membership service's
    /// own machine need not be among them: <see cref="FaultKinds.Membership"/> alone ends it.
    /// </summary>
    public IReadOnlyList<int>? Crashable { get; init; }

    /// <summary>When the first fault may begin. Not negative; default 0.</summary>
    public TimeSpan From { get; init; }

    /// <summary>When all is healed. Not before <see cref="From"/>; default 5 s.</summary>
    public TimeSpan Until { get; init; } = TimeSpan.FromSeconds(5);

    /// <summary>How long one fault lasts at most. Default 2 s.</summary>
    public TimeSpan LongestFault { get; init; } = TimeSpan.FromSeconds(2);

    /// <summary>How long a kind rests between two faults at most. Default 2 s.</summary>
    public TimeSpan LongestRest { get; init; } = TimeSpan.FromSeconds(2);

    /// <summary>How long a node is paused at most. Default 1 s.</summary>
    public TimeSpan LongestPause { get; init; } = TimeSpan.FromSeconds(1);

    /// <summary>How long nodes are cut off at most. Default 2 s.</summary>
    public TimeSpan LongestPartition { get; init; } = TimeSpan.FromSeconds(2);

    /// <summary>
    /// The share of partitions, 0 to 1, in which one of the nodes that are not cut off still reaches both sides, so that the sides
    /// differ in whom they hear and not in what they can be told. Default 0.
    /// </summary>
    public double BridgeShare { get; init => field = LinkModel.Probability(value); }

    /// <summary>The highest share of datagrams that is lost, 0 to 1. Default 0.1.</summary>
    public double HighestLoss { get; init => field = LinkModel.Probability(value); } = 0.1;
}
