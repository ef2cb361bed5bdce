using QuickSilver.Simulation.Faults;
using QuickSilver.Simulation.Machines;

namespace QuickSilver.Simulation;

/// <summary>
/// What breaks and when: written by hand with <see cref="At"/>, or drawn from a seed by <see cref="Draw"/>. After
/// <see cref="HealedAt"/> nothing is broken any more, so that progress can be asked for. Build it on one thread.
/// </summary>
public sealed class FaultSchedule
{
    private readonly List<FaultAction> _actions = [];

    /// <summary>When all is healed, counted from where the schedule begins; null when it never says so.</summary>
    public TimeSpan? HealedAt { get; private set; }

    /// <summary>In the order in which they happen; those of one instant as they were added.</summary>
    internal IReadOnlyList<FaultAction> Actions => [.. _actions.OrderBy(action => action.At)];

    /// <summary>Draws a schedule: the same plan, seed and number of nodes give the same one.</summary>
    /// <param name="plan">What may happen.</param>
    /// <param name="seed">Any number.</param>
    /// <param name="nodes">How many nodes the cluster has, for a plan that names none.</param>
    /// <exception cref="ArgumentException">
    /// The plan asks for faults of nodes and allows them to none, or its times are out of order.
    /// </exception>
    public static FaultSchedule Draw(FaultPlan plan, ulong seed, int nodes)
    {
        ArgumentNullException.ThrowIfNull(plan);
        ArgumentOutOfRangeException.ThrowIfNegative(nodes);
        return RandomFaults.Draw(plan, seed, nodes);
    }

    /// <summary>Adds something that happens at a time; returns this schedule.</summary>
    /// <param name="at">Virtual time, counted from where the schedule begins. Not negative.</param>
    /// <param name="description">What it is, for the report of a failure.</param>
    /// <param name="apply">Does it: <c>c => c.Nodes[1].Crash()</c>. It must not run the simulation.</param>
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
    /// Adds the end of all faults: links, partitions, pauses, shortages; nodes that crashed are started anew. Returns this schedule.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">The time is negative.</exception>
    public FaultSchedule HealAt(TimeSpan at)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(at, TimeSpan.Zero);
        HealedAt = at;
        return Add(at, "all", "healed", static machines => machines.Heal());
    }

    /// <summary>A line for each thing that happens, in order.</summary>
    public override string ToString() => string.Join(Environment.NewLine, Actions);

    internal FaultSchedule Add(TimeSpan at, string fault, string description, Action<SimulatedMachines> apply)
    {
        _actions.Add(new FaultAction(at, fault, description) { OnMachines = apply });
        return this;
    }

    // Puts all actions into the machines' future; times count from now. What acts on a cluster needs one.
    internal void Start(SimulatedMachines machines, SimulatedCluster? cluster = null)
    {
        var origin = machines.Now;
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
