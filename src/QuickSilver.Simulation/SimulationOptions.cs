using Microsoft.Extensions.Logging;
using QuickSilver.Membership.Regions.Sets;
using QuickSilver.Simulation.Faults;

namespace QuickSilver.Simulation;

/// <summary>Where the membership service of a <see cref="SimulatedCluster"/> runs.</summary>
public enum MembershipPlacement
{
    /// <summary>
    /// On a machine of its own, as with <c>qsm gms</c>. Faults can cut it off from nodes, and only <see cref="FaultKinds.Membership"/> ends
    /// it. Its number is <see cref="SimulatedCluster.Service"/>.
    /// </summary>
    Dedicated = 0,

    /// <summary>In one of the nodes, as by default in production. When that node crashes, another one hosts the service.</summary>
    Embedded = 1,
}

/// <summary>The options of a simulation. The same options and seed give the same run, byte for byte.</summary>
public sealed record SimulationOptions
{
    /// <summary>The maximum number of nodes of a cluster.</summary>
    internal const int MaxNodes = 10_000;

    // A stall is reported after five seconds at least, and a delay is none.
    private static readonly TimeSpan LongestTopicDelay = TimeSpan.FromSeconds(1);

    /// <summary>The random seed. Any number; default 1.</summary>
    public ulong Seed { get; init; } = 1;

    /// <summary>The number of nodes. 1 to 10,000; default 3.</summary>
    public int Nodes { get; init; } = 3;

    /// <summary>
    /// The number of nodes, from the first one, that <see cref="SimulatedCluster.Start"/> starts. The others wait for
    /// <see cref="SimulatedNode.Start"/>. 0 to <see cref="Nodes"/>; null (default): all.
    /// </summary>
    public int? StartedNodes { get; init; }

    /// <summary>
    /// The options of each node. The simulator sets their interface, membership service and packet memory, and ignores the values given
    /// here. With <see cref="QuickSilverOptions.StorageDirectory"/>, the disk of each machine keeps its files when the process restarts,
    /// and loses what was not synced when the machine loses power. The cluster takes a copy when it is created. Default: the
    /// defaults of <see cref="QuickSilverOptions"/>.
    /// </summary>
    public QuickSilverOptions NodeOptions { get; init; } = new();

    /// <summary>Where the membership service runs. Default: on a machine of its own.</summary>
    public MembershipPlacement Membership { get; init; }

    /// <summary>The model of all links without a model of their own. Healing faults resets links to it.</summary>
    public LinkModel Link { get; init; } = new();

    /// <summary>
    /// The maximum time for which a node that sends holds back one of its topics, while its other topics continue. When and for how long is
    /// drawn from the seed. There is no order between topics: a slow reader on any node delays one topic of a sender against the others.
    /// This finds code that relies on such an order. The messages of one sender in one topic stay in order. 0 (no delay) to 1 s; default
    /// 20 ms.
    /// </summary>
    public TimeSpan TopicDelay { get; init; } = TimeSpan.FromMilliseconds(20);

    /// <summary>
    /// The plan from which <see cref="SimulatedCluster.RunFaults"/> draws faults. Null (default): the default plan, 5 s long.
    /// </summary>
    public FaultPlan? Faults { get; init; }

    /// <summary>The time that every wall clock shows when virtual time starts. Default: 2026-01-01, UTC.</summary>
    public DateTimeOffset Epoch { get; init; } = new(2026, 1, 1, 0, 0, 0, TimeSpan.Zero);

    /// <summary>The logger factory of the nodes. Null (default): no logging. Loggers must not call back into the simulation.</summary>
    public ILoggerFactory? LoggerFactory { get; init; }

    /// <summary>Whether the last deliveries of each node are kept for reports.</summary>
    internal bool NotesDeliveries { get; init; } = true;

    /// <summary>
    /// Receivers of one datagram keep the same bytes, which none of them changes, in place of a copy each: faster by far, and a
    /// packet takes its memory once however many nodes cache it. But then no node runs out of memory by what it receives.
    /// </summary>
    internal bool SharesPacketMemory { get; init; }

    /// <summary>
    /// Whether packets are sealed, as between machines: with real keys and AES-GCM. Receivers then share no packet memory.
    /// </summary>
    internal bool IsSealed { get; init; }

    /// <summary>How many packets a node seals under one subkey; null: the default.</summary>
    internal long? PacketsPerKeyEpoch { get; init; }

    /// <summary>What experiments change in the protocols.</summary>
    internal Multicast.Nodes.Experiments Experiments { get; init; } = new();

    /// <summary>How the service divides topics into sets; null: the default.</summary>
    internal TopicSetRules? TopicSets { get; init; }

    /// <summary>How many sends of a message make its topic get an address of its own; null: the default.</summary>
    internal int? LeastSends { get; init; }

    /// <summary>The bound of each node's pool of packet memory.</summary>
    internal long PoolBytes { get; init; } = 64 << 20;

    /// <summary>Remembers where each block was rented: slow, and names who leaks.</summary>
    internal bool TrackLeases { get; init; }

    /// <summary>Keeps the whole trace, to find where two runs part; costs memory with every event.</summary>
    internal bool RecordTrace { get; init; }

    internal void Check()
    {
        if (Nodes is < 1 or > MaxNodes)
        {
            throw new ArgumentException($"{nameof(Nodes)} is {Nodes}. It must be 1 to {MaxNodes:N0}.");
        }

        if (StartedNodes is { } started && (started < 0 || started > Nodes))
        {
            throw new ArgumentException($"{nameof(StartedNodes)} is {started}. It must be 0 to {Nodes}, the number of nodes.");
        }

        if (TopicDelay < TimeSpan.Zero || TopicDelay > LongestTopicDelay)
        {
            throw new ArgumentException($"{nameof(TopicDelay)} is {TopicDelay}. It must be 0 to {LongestTopicDelay:c}.");
        }

        if (NodeOptions is null || Link is null)
        {
            throw new ArgumentException($"{nameof(NodeOptions)} and {nameof(Link)} must not be null.");
        }

        OptionRules.Check(NodeOptions);
        if (Faults is { } plan)
        {
            // The service of a cluster is the machine behind the nodes.
            RandomFaults.Check(plan, Nodes, Membership == MembershipPlacement.Dedicated ? Nodes + 1 : Nodes);
        }
    }
}
