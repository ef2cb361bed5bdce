using QuickSilver.Simulation.Machines;

namespace QuickSilver.Simulation.Faults;

// One thing that goes wrong, or right again, at a point of virtual time. Fault: its id in the test plan (F1, F2, …).
internal sealed record FaultAction(TimeSpan At, string Fault, string Description, Action<SimulatedMachines> Apply)
{
    public override string ToString() => $"{At:c} {Fault} {Description}";
}
