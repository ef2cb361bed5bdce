using QuickSilver.Membership.Regions.Sets;
using QuickSilver.Simulation;

namespace QuickSilver.Seeds.Tests.Infrastructure;

internal sealed record ClusterSetup
{
    public required int Nodes { get; init; }

    public bool IsEmbedded { get; init; }

    public QuickSilverOptions Options { get; init; } = new();

    /// <summary>What each third node is started with; null: all are started with the same.</summary>
    public QuickSilverOptions? OtherOptions { get; init; }

    /// <summary>
    /// Whether what is sent again was lost before: a node in no group gets all by repair from nodes that send to groups and make no copies.
    /// </summary>
    public bool CountsLosses => OtherOptions is not { } other
        || !Mixes(Options.Dissemination, other.Dissemination, Dissemination.Unicast, Dissemination.Multicast);

    /// <summary>How many regions a node can be in, and from when on topics part.</summary>
    public TopicSetRules TopicSets { get; init; } = new();

    /// <summary>What the wall clocks show at the start.</summary>
    public DateTimeOffset Epoch { get; init; } = new SimulationOptions().Epoch;

    /// <summary>How healthy links behave.</summary>
    public LinkModel Link { get; init; } = new();

    /// <summary>Packet memory of each node.</summary>
    public long PoolBytes { get; init; } = new SimulationOptions().PoolBytes;

    /// <summary>What messages in parts may take at each node; null: as usual.</summary>
    public long? ReassemblyBytes { get; init; }

    /// <summary>Messages that wait for a reader at most.</summary>
    public int ReaderCapacity { get; init; } = new TopicOptions().ReaderCapacity;

    public Hardships Hardships { get; init; }

    /// <summary>Of topics by their numbers: a third of them, where the seed has any.</summary>
    public bool IsBestEffort(ulong topic) => Hardships.HasFlag(Hardships.BestEffort) && topic % 3 == 0;

    /// <summary>The rights to publish and subscribe; null: all nodes have all rights.</summary>
    public DrawnRights? Rights { get; init; }

    /// <summary>Servers of the membership service where no node hosts it. Several have a store with a lease.</summary>
    public int Servers { get; init; } = 1;

    /// <summary>The machines of these servers: the first, and those after the nodes.</summary>
    public int[] ServerNumbers => IsEmbedded ? [] : [0, .. Enumerable.Range(Nodes + 1, Servers - 1)];

    /// <summary>Every reliable topic owns its region.</summary>
    public bool PinsTopics { get; init; }

    /// <summary>Some subscribers are handlers that throw or block, or slow readers, until the faults are over (F7).</summary>
    public bool HasOddSubscribers { get; init; }

    private static bool Mixes(Dissemination a, Dissemination b, Dissemination one, Dissemination other) =>
        (a == one && b == other) || (a == other && b == one);
}
