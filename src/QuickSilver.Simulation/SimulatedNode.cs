using System.Net;
using QuickSilver.Simulation.Machines;

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

    // Who it proves to be to the membership service; null: nobody.
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

    /// <summary>Returns the number, address and state.</summary>
    public override string ToString() => _machine.ToString();

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
