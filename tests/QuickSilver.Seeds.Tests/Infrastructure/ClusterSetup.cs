using QuickSilver.Membership.Regions;
using QuickSilver.Simulation;

namespace QuickSilver.Seeds.Tests.Infrastructure;

internal sealed record ClusterSetup
{
    public required int Nodes { get; init; }

    public bool IsEmbedded { get; init; }

    public QuickSilverOptions Options { get; init; } = new();

    /// <summary>How many regions a node can be in, and from when on topics part.</summary>
    public TopicSetRules TopicSets { get; init; } = new();

    /// <summary>What the wall clocks show at the start.</summary>
    public DateTimeOffset Epoch { get; init; } = new SimulationOptions().Epoch;

    /// <summary>Some subscribers are handlers that throw or block, or slow readers, until the faults are over (F7).</summary>
    public bool HasOddSubscribers { get; init; }
}
