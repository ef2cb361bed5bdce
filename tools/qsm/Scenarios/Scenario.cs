using QuickSilver.Simulation.Experiments;

namespace QuickSilver.Tool.Scenarios;

// One of the papers' experiments as data: a plan, what is varied, and what is shown of it. All are run alike.
internal sealed record Scenario
{
    public required string Name { get; init; }

    /// <summary>The figures that it redraws, of the longer report (L) and of "Quicksilver Scalable Multicast" (Q).</summary>
    public required string Figures { get; init; }

    public required string Description { get; init; }

    /// <summary>What the papers say, as their text has it.</summary>
    public required string PaperSays { get; init; }

    /// <summary>What the model cannot show of it; null if nothing is known.</summary>
    public string? NotShown { get; init; }

    public Axis Axis { get; init; } = Axis.Nodes;

    /// <summary>The points of a whole curve; none for traces.</summary>
    public IReadOnlyList<double> Points { get; init; } = [2, 20, 60, 100, 150, 200];

    /// <summary>The last point. The papers sent without batching.</summary>
    public LoadPlan Plan { get; init; } = Unpacked(200);

    public IReadOnlyList<Variant> Variants { get; init; } = [Variant.Only];

    public IReadOnlyList<Curve> Curves { get; init; } = [];

    /// <summary>Where there are traces, one run of each variant gives its whole curves.</summary>
    public IReadOnlyList<Trace> Traces { get; init; } = [];

    /// <summary>How long a point is measured for a report; for one point the command line says it.</summary>
    public TimeSpan ReportLength { get; init; } = TimeSpan.FromSeconds(1);

    /// <summary>Assigns nodes to regions and sends nothing.</summary>
    public bool IsAssignment { get; init; }

    public static LoadPlan Unpacked(int nodes) => new() { Nodes = nodes, OnePerPacket = true };
}
