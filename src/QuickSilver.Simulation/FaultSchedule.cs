using QuickSilver.Simulation.Faults;
using QuickSilver.Simulation.Machines;

namespace QuickSilver.Simulation;

/// <summary>
/// A schedule of faults, written with <see cref="At"/> or drawn from a seed with <see cref="Draw"/>. After <see cref="HealedAt"/> all
/// faults are healed, so progress can be required. Build it on one thread.
/// </summary>
public sealed class FaultSchedule
{
    private readonly List<FaultAction> _actions = [];
    // When the last simulation started it.
    private TimeSpan _origin;

    /// <summary>
    /// The time at which all faults are healed, counted from the start of the schedule. Null if the schedule does not heal them.
    /// </summary>
    public TimeSpan? HealedAt { get; private set; }

    /// <summary>The actions in the order of their times. Actions at the same time are in the order in which they were added.</summary>
    internal IReadOnlyList<FaultAction> Actions => [.. _actions.OrderBy(action => action.At)];

    /// <summary>Draws a schedule. The same plan, seed and number of nodes give the same schedule.</summary>
    /// <param name="plan">The faults that may occur.</param>
    /// <param name="seed">The seed.</param>
    /// <param name="nodes">The number of nodes of the cluster, for a plan that names none.</param>
    /// <exception cref="ArgumentException">
    /// The plan includes faults of nodes but allows them for no node, or its times are out of order.
    /// </exception>
    public static FaultSchedule Draw(FaultPlan plan, ulong seed, int nodes)
    {
        ArgumentNullException.ThrowIfNull(plan);
        ArgumentOutOfRangeException.ThrowIfNegative(nodes);
        return RandomFaults.Draw(plan, seed, nodes);
    }

    /// <summary>Adds an action at a time, and returns this schedule.</summary>
    /// <param name="at">The virtual time, counted from the start of the schedule. Not negative.</param>
    /// <param name="description">The description, for the report of a failure.</param>
    /// <param name="apply">The action, for example <c>c => c.Nodes[1].Crash()</c>. It must not run the simulation.</param>
    /// <exception cref="ArgumentOutOfRangeException">The time is negative.</exception>
    public FaultSchedule At(TimeSpan at, string description, Action<SimulatedCluster> apply)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(at, TimeSpan.Zero);
        ArgumentNullException.ThrowIfNull(description);
        ArgumentNullException.ThrowIfNull(apply);
        _actions.Add(new FaultAction(at, "own", description) { OnCluster = apply });
        return this;
    }

    /// <summary>
    /// Adds the end of all faults: it resets links, partitions, pauses and shortages, and restarts crashed nodes. Returns this schedule.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">The time is negative.</exception>
    public FaultSchedule HealAt(TimeSpan at)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(at, TimeSpan.Zero);
        HealedAt = at;
        return Add(at, "all", "healed", static machines => machines.Heal());
    }

    /// <summary>Returns one line for each action, in order.</summary>
    public override string ToString() => string.Join(Environment.NewLine, Actions);

    internal FaultSchedule Add(TimeSpan at, string fault, string description, Action<SimulatedMachines> apply)
    {
        _actions.Add(new FaultAction(at, fault, description) { OnMachines = apply });
        return this;
    }

    /// <summary>One line for each action that was taken until this time of a simulation, and how many were not.</summary>
    internal string TakenUntil(TimeSpan now)
    {
        var taken = Actions.Where(action => _origin + action.At <= now).Select(static action => action.ToString()).ToList();
        if (taken.Count < _actions.Count)
        {
            taken.Add($"{_actions.Count - taken.Count} more were planned, and did not happen.");
        }

        return string.Join(Environment.NewLine, taken);
    }

    // Puts all actions into the machines' future; times count from now. What acts on a cluster needs one.
    internal void Start(SimulatedMachines machines, SimulatedCluster? cluster = null)
    {
        var origin = _origin = machines.Now;
        for (int i = 0; i < _actions.Count; i++)
        {
            var action = _actions[i];
            ulong number = (ulong)i;
            machines.At(origin + action.At, () =>
            {
                machines.Trace.Add(machines.Now, node: -1, TraceKind.Fault, number);
                action.OnMachines?.Invoke(machines);
                action.OnCluster?.Invoke(cluster!);
            });
        }
    }
}
