using QuickSilver.Simulation.Disks;
using QuickSilver.Simulation.Machines.Time;

namespace QuickSilver.Simulation.Machines;

// Many nodes, one thread, one order of events, one seed: the same seed gives the same run, byte for byte (I20).
internal sealed class SimulatedMachines
{
    private readonly List<SimulatedMachine> _nodes = [];
    // By the machine's number. Only of those that ever opened a log: the others are to cost nothing for it.
    private readonly SortedList<int, SimulatedDisk> _disks = [];

    public SimulatedMachines(ulong seed)
        : this(new SimulationOptions { Seed = seed })
    {
    }

    public SimulatedMachines(SimulationOptions options)
    {
        Options = options;
        Trace = new TraceHash(options.RecordTrace);
        Network = new SimulatedNetwork(this);
    }

    public SimulationOptions Options { get; }

    public VirtualTime Time { get; } = new();

    public TraceHash Trace { get; }

    public SimulatedNetwork Network { get; }

    public IReadOnlyList<SimulatedMachine> Nodes => _nodes;

    public TimeSpan Now => Time.Now;

    /// <summary>To be used again by any node.</summary>
    internal Stack<TurnEvent> SpareTurns { get; } = new();

    /// <summary>Called when a node was restarted, with its new environment in place, to build the protocol on it.</summary>
    public Action<SimulatedMachine>? NodeStarted { get; set; }

    /// <summary>Called when a life of a node has ended: its code does nothing more, but can still be read.</summary>
    public Action<SimulatedMachine>? NodeEnded { get; set; }

    public SimulatedMachine AddNode()
    {
        var node = AddIdleNode();
        node.Start();
        return node;
    }

    /// <summary>A machine on which nothing runs until it is restarted.</summary>
    public SimulatedMachine AddIdleNode() => Add(new SimulatedMachine(this, _nodes.Count));

    /// <summary>The membership service's own machine.</summary>
    public SimulatedMachine AddService()
    {
        var machine = Add(new SimulatedMachine(this, _nodes.Count) { IsService = true });
        machine.Start();
        return machine;
    }

    public IReadOnlyList<SimulatedMachine> AddNodes(int count)
    {
        for (int i = 0; i < count; i++)
        {
            AddNode();
        }

        return _nodes;
    }

    /// <summary>Does something at a point of virtual time, outside all nodes: part of the test, not of the tested.</summary>
    public void At(TimeSpan due, Action action) => Time.At(due, new ActionEvent(action));

    public void After(TimeSpan delay, Action action) => Time.After(delay, new ActionEvent(action));

    public void Run(TimeSpan duration) => Time.RunTo(VirtualTime.Add(Time.Now, duration));

    /// <summary>Runs until the condition holds, at most <paramref name="limit"/> from now; returns whether it held.</summary>
    public bool RunUntil(Func<bool> condition, TimeSpan limit) => Time.RunUntil(condition, VirtualTime.Add(Time.Now, limit));

    /// <summary>
    /// Undoes all that faults did: links, partitions, pauses, node models, disks, clocks that run wrong (one that was set stays so);
    /// what crashed is restarted.
    /// </summary>
    public void Heal()
    {
        Network.Heal();
        foreach (var node in _nodes)
        {
            node.Model = node.Model with { SendBusyProbability = 0, InboundLoss = 0, ReceiveBufferLimitBytes = null };
            node.Faults.Heal();
            FindDisk(node)?.Heal();
            node.Life?.Endpoints.JoinAgain();
            node.Clock.Rate = 1;
            node.Resume();
            if (!node.IsUp && node.Lives > 0)
            {
                node.Restart();
            }
        }
    }

    /// <summary>Throws when a living node holds packet memory; needs no tracker, but names the places when there is one.</summary>
    public void AssertLeasesReturned()
    {
        foreach (var node in _nodes)
        {
            if (node.Life is not { } life)
            {
                continue;
            }

            life.Intake.Memory.Trim();
            life.Leases?.AssertAllReturned();
            if (life.Buffers.LeasedBlocks > 0)
            {
                throw new InvalidOperationException($"Node {node.Number} still holds {life.Buffers.LeasedBlocks} blocks of packet memory.");
            }
        }
    }

    private SimulatedMachine Add(SimulatedMachine machine)
    {
        Time.CheckThread();
        _nodes.Add(machine);
        return machine;
    }

    internal SimulatedDisk DiskOf(SimulatedMachine machine)
    {
        var disk = FindDisk(machine);
        if (disk is null)
        {
            disk = new SimulatedDisk(this, machine.Number);
            _disks.Add(machine.Number, disk);
        }

        return disk;
    }

    /// <summary>Null: it was never asked for.</summary>
    internal SimulatedDisk? FindDisk(SimulatedMachine machine) =>
        _disks.TryGetValue(machine.Number, out var disk) ? disk : null;

    internal void NotifyStarted(SimulatedMachine node) => NodeStarted?.Invoke(node);

    internal void NotifyEnded(SimulatedMachine node) => NodeEnded?.Invoke(node);
}
