using System.Net;
using QuickSilver.Simulation.Machines;

namespace QuickSilver.Simulation;

/// <summary>
/// One node of a <see cref="SimulatedCluster"/>: a machine with its place in the network, on which a process with a
/// <see cref="QuickSilverNode"/> and its user's code runs, ends and is started anew. Used by code that the simulation runs, or
/// between two runs.
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

    /// <summary>Its place in <see cref="SimulatedCluster.Nodes"/>.</summary>
    public int Number => _machine.Number;

    /// <summary>Its address; stays over restarts.</summary>
    public IPAddress Address => _machine.Address;

    /// <summary>What its machine is like.</summary>
    public NodeModel Model => _machine.Model;

    /// <summary>Whether its process runs.</summary>
    public bool IsUp => _machine.IsUp;

    /// <summary>Whether its process stands still.</summary>
    public bool IsPaused => _machine.IsPaused;

    /// <summary>Whether its process runs and has joined the cluster.</summary>
    public bool IsJoined => IsUp && Life is { Node: not null };

    /// <summary>How often its process was started.</summary>
    public int Lives => _machine.Lives;

    /// <summary>How far its wall clock is off. Its other times are unaffected. Any span; default 0.</summary>
    public TimeSpan ClockStep
    {
        get => _machine.ClockStep;
        set => _machine.ClockStep = value;
    }

    /// <summary>The QuickSilver node in its process; another one after each restart.</summary>
    /// <exception cref="InvalidOperationException">The process does not run or has not joined: <see cref="IsJoined"/> says so.</exception>
    public QuickSilverNode Node
    {
        get
        {
            _cluster.Machines.Time.AdoptThread();
            return IsJoined ? Life!.Node! : throw new InvalidOperationException($"{this} has not joined the cluster.");
        }
    }

    /// <summary>
    /// The clock of its process, with timers that wait while it is paused and never fire once it has ended: for
    /// <c>Task.Delay(wait, node.Time)</c>, and for all code that takes a <see cref="TimeProvider"/>.
    /// </summary>
    /// <exception cref="InvalidOperationException">The process does not run.</exception>
    public TimeProvider Time => Running.Parts.OutsideTime;

    /// <summary>Chance for its process, drawn from the seed; another stream after each restart.</summary>
    /// <exception cref="InvalidOperationException">The process does not run.</exception>
    public Random Random => Running.Random;

    /// <summary>How many nodes the node knows, itself included; 0 before it has joined.</summary>
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

    private NodeLife Running => IsUp ? Life! : throw new InvalidOperationException($"{this} does not run.");

    /// <summary>
    /// Starts its process, for the first time or anew after a crash; the cluster's application runs in it once it has joined.
    /// </summary>
    /// <exception cref="InvalidOperationException">It runs.</exception>
    public void Start() => Machine.Restart();

    /// <summary>
    /// Ends its process at once: none of its code goes on. Peers are told, as a system does for a dead process; or, silently (power
    /// lost), they find out by themselves. Does nothing where none runs.
    /// </summary>
    public void Crash(bool silently = false) => Machine.Crash(silently);

    /// <summary>
    /// Stops its process until <see cref="Resume"/>: what is due meanwhile happens late, what arrives waits in receive buffers.
    /// </summary>
    public void Pause() => Machine.Pause();

    /// <summary>Pauses it for a while; a pause that is already to last longer stays.</summary>
    public void Pause(TimeSpan duration) => Machine.Pause(duration);

    /// <summary>Lets it go on.</summary>
    public void Resume() => Machine.Resume();

    /// <summary>
    /// Runs code in its process, beside the application, as soon as the process can: not while it is paused, and never once it has
    /// ended. What it throws fails the run.
    /// </summary>
    /// <exception cref="InvalidOperationException">The process does not run.</exception>
    public void Post(Func<Task> code)
    {
        ArgumentNullException.ThrowIfNull(code);
        _cluster.Machines.Time.AdoptThread();
        Running.Post(code);
    }

    /// <summary>Its number, address and state.</summary>
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
