using Microsoft.Extensions.Logging;

namespace QuickSilver.Simulation;

/// <summary>Where the membership service of a <see cref="SimulatedCluster"/> runs.</summary>
public enum MembershipPlacement
{
    /// <summary>
    /// On a machine of its own, as with <c>qsm gms</c>, which drawn faults can part from nodes, and end only where
    /// <see cref="FaultKinds.Membership"/> is asked for. Its number is <see cref="SimulatedCluster.Service"/>.
    /// </summary>
    Dedicated = 0,

    /// <summary>In one of the nodes, as without any option: when that one crashes, another hosts it on.</summary>
    Embedded = 1,
}

/// <summary>What is simulated. The same options and seed give the same run, to the byte.</summary>
public sealed record SimulationOptions
{
    /// <summary>The most nodes that a cluster can have.</summary>
    internal const int MaxNodes = 10_000;

    /// <summary>What all chance is drawn from. Any number; default 1.</summary>
    public ulong Seed { get; init; } = 1;

    /// <summary>How many nodes there are. 1 to 10,000; default 3.</summary>
    public int Nodes { get; init; } = 3;

    /// <summary>
    /// How many of them <see cref="SimulatedCluster.Start"/> starts, the first ones; the others wait for
    /// <see cref="SimulatedNode.Start"/>. 0 to <see cref="Nodes"/>; null (default): all.
    /// </summary>
    public int? StartedNodes { get; init; }

    /// <summary>
    /// What each node is started with. Its interface, membership service and packet memory are the simulator's and not looked at
    /// here. Default: <see cref="QuickSilverOptions"/> as they are.
    /// </summary>
    public QuickSilverOptions NodeOptions { get; init; } = new();

    /// <summary>Where the membership service runs. Default: on a machine of its own.</summary>
    public MembershipPlacement Membership { get; init; }

    /// <summary>How each link behaves that is not told otherwise; also what faults are healed back to.</summary>
    public LinkModel Link { get; init; } = new();

    /// <summary>
    /// What <see cref="SimulatedCluster.RunFaults"/> draws its faults from. Null (default): a plan as it is, 5 s long.
    /// </summary>
    public FaultPlan? Faults { get; init; }

    /// <summary>What every wall clock shows when virtual time begins. Default: 2026-01-01, UTC.</summary>
    public DateTimeOffset Epoch { get; init; } = new(2026, 1, 1, 0, 0, 0, TimeSpan.Zero);

    /// <summary>Where nodes log. Null (default): nowhere. It must not take calls back into the simulation.</summary>
    public ILoggerFactory? Logs { get; init; }

    /// <summary>
    /// Receivers of one datagram keep the same bytes, which none of them changes, in place of a copy each: faster by far, and a
    /// packet takes its memory once however many nodes cache it. But then no node runs out of memory by what it receives.
    /// </summary>
    internal bool SharesPacketMemory { get; init; }

    /// <summary>Null: tokens go when there is something to tell.</summary>
    internal TimeSpan? TokenInterval { get; init; }

    /// <summary>In how many ranges acknowledgements say what all hold; 1: up to where.</summary>
    internal int FeedbackRanges { get; init; } = 1;

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
            throw new ArgumentException($"A cluster of {Nodes} nodes cannot be simulated; there may be 1 to {MaxNodes:N0}.");
        }

        if (StartedNodes is { } started && (started < 0 || started > Nodes))
        {
            throw new ArgumentException($"{started} of {Nodes} nodes cannot be started.");
        }

        if (NodeOptions is null || Link is null)
        {
            throw new ArgumentException($"{nameof(NodeOptions)} and {nameof(Link)} may be left as they are, but not be null.");
        }

        OptionRules.Check(NodeOptions);
    }
}
