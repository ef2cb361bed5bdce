using QuickSilver.Membership.Regions.Addresses;
using QuickSilver.Membership.Regions.Sets;
using QuickSilver.Simulation.Experiments;
using QuickSilver.Tool.Scenarios.Groups;

namespace QuickSilver.Tool.Scenarios;

// One of the curves that a figure compares: what of the plan it changes.
internal sealed record Variant(string Name, Func<LoadPlan, LoadPlan> Apply)
{
    public static Variant Only { get; } = new("", plan => plan);

    /// <summary>The least number of nodes with which the variant differs from the others.</summary>
    public int LeastNodes { get; init; }

    /// <summary>What is sent to a group; null: the load is of topics.</summary>
    public GroupLoad? Group { get; init; }

    /// <summary>Of an assignment of nodes to regions: whether a node has a full tenth of the topics, or as many draws.</summary>
    public bool Distinct { get; init; }

    /// <summary>Of an assignment: how topics are divided into sets; null: as the service does.</summary>
    public TopicSetRules? Sets { get; init; }

    /// <summary>Of an assignment: which topics get addresses of their own; null: none.</summary>
    public TopicAddressRules? Addresses { get; init; }

    /// <summary>Whether the addresses are given as if the traffic of each topic were known.</summary>
    public bool KnowsTraffic { get; init; }
}
