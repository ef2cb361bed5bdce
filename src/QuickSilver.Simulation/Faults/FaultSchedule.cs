using QuickSilver.Simulation.Machines;

namespace QuickSilver.Simulation.Faults;

// What breaks and when: written by a test, or drawn from a seed (RandomFaults). After HealedAt nothing is broken any more,
// so liveness can be asked for.
internal sealed class FaultSchedule
{
    private readonly List<FaultAction> _actions = [];

    /// <summary>In the order in which they happen; those of one instant as they were added.</summary>
    public IReadOnlyList<FaultAction> Actions => [.. _actions.OrderBy(action => action.At)];

    public TimeSpan? HealedAt { get; private set; }

    public FaultSchedule Add(TimeSpan at, string fault, string description, Action<SimulatedMachines> apply)
    {
        _actions.Add(new FaultAction(at, fault, description, apply));
        return this;
    }

    /// <summary>Adds the end of all faults: links, partitions, pauses, node models; what crashed is restarted.</summary>
    public FaultSchedule HealAll(TimeSpan at)
    {
        HealedAt = at;
        return Add(at, "all", "healed", Heal);
    }

    /// <summary>Puts all actions into the cluster's future; times count from now.</summary>
    public void Start(SimulatedMachines cluster)
    {
        var origin = cluster.Now;
        for (int i = 0; i < _actions.Count; i++)
        {
            var action = _actions[i];
            ulong number = (ulong)i;
            cluster.At(origin + action.At, () =>
            {
                cluster.Trace.Add(cluster.Now, node: -1, TraceKind.Fault, number);
                action.Apply(cluster);
            });
        }
    }

    public override string ToString() => string.Join(System.Environment.NewLine, Actions);

    private static void Heal(SimulatedMachines cluster)
    {
        cluster.Network.Heal();
        foreach (var node in cluster.Nodes)
        {
            node.Model.Heal();
            node.Resume();
            if (!node.IsUp)
            {
                node.Restart();
            }
        }
    }
}
