using QuickSilver.Simulation.Machines;

namespace QuickSilver.Simulation.Faults;

// One thing that goes wrong, or right again, at a point of virtual time. Fault: its code in docs/invariants.md (F1, F2, …), or
// "own" for what a user's schedule does to a whole cluster.
internal sealed record FaultAction(TimeSpan At, string Fault, string Description)
{
    public Action<SimulatedMachines>? OnMachines { get; init; }

    public Action<SimulatedCluster>? OnCluster { get; init; }

    public override string ToString() => $"{At:c} {Fault} {Description}";
}
