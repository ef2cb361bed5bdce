using System.Net;
using Microsoft.Extensions.DependencyInjection;
using QuickSilver.Membership.Views;
using QuickSilver.Simulation.Machines;
using QuickSilver.Simulation.Topics;

namespace QuickSilver.Simulation;

/// <summary>
/// A node of a <see cref="SimulatedCluster"/>: a machine on the network with a process that contains a <see cref="QuickSilverNode"/> and
/// user code, and that can end and restart. Use it from code that the simulation runs, or between two runs.
/// </summary>
public sealed class SimulatedNode
{
    private readonly SimulatedCluster _cluster;
    private readonly SimulatedMachine _machine;
    // Nearly always one.
    private readonly List<NodeLife> _lives = new(1);
    // Null until it first subscribes.
    private Deliveries? _deliveries;

    internal SimulatedNode(SimulatedCluster cluster, SimulatedMachine machine)
    {
        _cluster = cluster;
        _machine = machine;
    }

    /// <summary>The index in <see cref="SimulatedCluster.Nodes"/>.</summary>
    public int Number => _machine.Number;

    /// <summary>The address, which does not change with restarts.</summary>
    public IPAddress Address => _machine.Address;

    /// <summary>The properties of the machine. Set it from code that the simulation runs, or between two runs.</summary>
    /// <exception cref="ArgumentNullException">The model is null.</exception>
    public NodeModel Model
    {
        get => _machine.Model;
        set => _machine.Model = value ?? throw new ArgumentNullException(nameof(value));
    }

    internal MachineFaults Faults => _machine.Faults;

    // The identity that it proves to the membership service; null: none.
    internal string? Identity
    {
        get => _machine.Identity;
        set => _machine.Identity = value;
    }

    /// <summary>Whether the process runs.</summary>
    public bool IsUp => _machine.IsUp;

    /// <summary>Whether the process is paused.</summary>
    public bool IsPaused => _machine.IsPaused;

    /// <summary>Whether the process runs and has joined the cluster.</summary>
    public bool IsJoined => IsUp && Life is { Node: not null };

    /// <summary>How often the process was started.</summary>
    public int Lives => _machine.Lives;

    /// <summary>The offset of the wall clock. Other clocks are unaffected. Any span; default 0.</summary>
    public TimeSpan ClockStep
    {
        get => _machine.ClockStep;
        set => _machine.ClockStep = value;
    }

    /// <summary>The QuickSilver node in the process. Each restart creates another one.</summary>
    /// <exception cref="InvalidOperationException">The process does not run or has not joined. See <see cref="IsJoined"/>.</exception>
    public QuickSilverNode Node
    {
        get
        {
            _cluster.Machines.Time.AdoptThread();
            return IsJoined ? Life!.Node! : throw new InvalidOperationException($"{this} has not joined the cluster.");
        }
    }

    /// <summary>
    /// The clock of the process. Its timers wait while the process is paused, and never fire after it has ended. Use it for
    /// <c>Task.Delay(wait, node.Time)</c>, and for all code that takes a <see cref="TimeProvider"/>.
    /// </summary>
    /// <exception cref="InvalidOperationException">The process does not run.</exception>
    public TimeProvider Time => Running.Parts.OutsideTime;

    /// <summary>Random numbers for the process, drawn from the seed. Each restart has another sequence.</summary>
    /// <exception cref="InvalidOperationException">The process does not run.</exception>
    public Random Random => Running.Random;

    /// <summary>
    /// The last messages that were delivered to the topics of this node, over all its lives: at most 10, as a line of text each, the oldest
    /// first. A line contains the virtual time, the topic, the number and sender of the message, and the beginning of its payload.
    /// <see cref="Simulate.ManySeeds"/> reports those of all nodes when a seed fails.
    /// </summary>
    public IReadOnlyList<string> LastDeliveries => _deliveries?.InWords(_cluster.NameOf) ?? [];

    /// <summary>The number of nodes that this node knows, including itself. 0 before it has joined.</summary>
    internal int KnownNodes => IsJoined ? Life!.Parts.KnownNodes : 0;

    internal NodeLife? Life => _lives.Count > 0 ? _lives[^1] : null;

    // Called between two runs, the calling thread is the simulation's from now on.
    private SimulatedMachine Machine
    {
        get
        {
            _cluster.Machines.Time.AdoptThread();
            return _machine;
        }
    }

    private NodeLife Running => IsUp ? Life! : throw new InvalidOperationException($"{this} is not running. Start it first.");

    /// <summary>
    /// Starts the process, for the first time or after a crash. The cluster's application runs in it when the node has joined.
    /// </summary>
    /// <exception cref="InvalidOperationException">The process is already running.</exception>
    public void Start() => Machine.Restart();

    /// <summary>
    /// Ends the process immediately. Its peers are notified, as an operating system does for a dead process, or, if silently (power loss),
    /// detect it themselves. Does nothing if the process is not running.
    /// </summary>
    public void Crash(bool silently = false) => Machine.Crash(silently);

    /// <summary>Pauses the process until <see cref="Resume"/>. Due events are late, and arriving data waits in receive buffers.</summary>
    public void Pause() => Machine.Pause();

    /// <summary>Pauses the process for the specified time. A current pause that lasts longer is not shortened.</summary>
    public void Pause(TimeSpan duration) => Machine.Pause(duration);

    /// <summary>Resumes the process.</summary>
    public void Resume() => Machine.Resume();

    /// <summary>
    /// Runs code in the process, beside the application, as soon as the process can run it: not while it is paused, and never after it has
    /// ended. Exceptions fail the run.
    /// </summary>
    /// <exception cref="InvalidOperationException">The process does not run.</exception>
    public void Post(Func<Task> code)
    {
        ArgumentNullException.ThrowIfNull(code);
        _cluster.Machines.Time.AdoptThread();
        Running.Post(code);
    }

    /// <summary>
    /// Starts a host in the process, in virtual time: the services that a program adds, such as by <c>AddQuickSilver</c> and
    /// <c>AddConsumer</c>. Call it from the application of <see cref="SimulatedCluster.Start"/>, so that each restart of the process starts
    /// another host. A crash ends the host as it ends a process: nothing of it runs after that, and it is not disposed.
    /// </summary>
    /// <remarks>
    /// The host uses <see cref="Node"/> in place of a node of its own, so options of the node in the services have no effect: use
    /// <see cref="SimulationOptions.NodeOptions"/>. <see cref="TimeProvider"/> is the clock of the process, whatever the services say.
    /// Hosted services are started as by a host, one after the other, and a <c>BackgroundService</c> runs on the thread of the simulation.
    /// </remarks>
    /// <param name="configure">Adds the services.</param>
    /// <returns>The host, when its services have started.</returns>
    /// <exception cref="InvalidOperationException">The process does not run or has not joined.</exception>
    public Task<SimulatedHost> StartHostAsync(Action<IServiceCollection> configure)
    {
        ArgumentNullException.ThrowIfNull(configure);
        return SimulatedHost.StartAsync(this, Node, _cluster, configure);
    }

    /// <summary>Returns the number, address and state.</summary>
    public override string ToString() => _machine.ToString();

    internal Deliveries NoteDeliveries() => _deliveries ??= new Deliveries(_cluster.Machines.Time);

    /// <summary>What this node is called where it is, or was, this incarnation; null if it never was.</summary>
    internal string? NameAs(NodeKey key)
    {
        int life = _lives.FindIndex(one => one.Node?.Id == new NodeId(key.Id, key.Incarnation));
        return life < 0 ? null : life == 0 ? $"node {Number}" : $"node {Number} in life {life + 1}";
    }

    /// <summary>The code that runs now takes this long on the node's core thread.</summary>
    internal void Spend(TimeSpan cost) => Running.Environment.Spend(cost);

    internal void BeginLife()
    {
        var life = new NodeLife(_cluster, this, _machine.Environment);
        _lives.Add(life);
        life.Begin();
    }

    internal void EndLife() => Life!.End();

    internal void CleanUp()
    {
        _machine.Crash();
        foreach (var life in _lives)
        {
            life.CleanUp();
        }
    }
}
