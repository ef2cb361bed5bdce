using System.Collections.Immutable;
using System.Net;
using Microsoft.Extensions.Logging.Abstractions;
using QuickSilver.Composition;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Membership.Diagnostics;
using QuickSilver.Membership.Protocol.Replies;
using QuickSilver.Membership.Service;
using QuickSilver.Membership.Service.Stores;
using QuickSilver.Membership.Views;
using QuickSilver.Simulation.Machines;
using QuickSilver.Simulation.Machines.Time;

namespace QuickSilver.Simulation;

/// <summary>
/// Runs whole QuickSilver nodes, their topics and user code on simulated machines, in virtual time, from a seed. The same seed gives the
/// same run, byte for byte.
/// </summary>
/// <remarks>
/// <para>
/// Everything runs on one thread: the one that calls <see cref="Run"/> or another method that runs virtual time. Time passes only within
/// these methods. Calls from other threads throw <see cref="InvalidOperationException"/>. Between two runs, another thread may take over.
/// </para>
/// <para>
/// Code under simulation may use await, and continues in virtual time on the same thread. It must take the time from
/// <see cref="SimulatedNode.Time"/> (<c>Task.Delay(wait, node.Time)</c>) and random numbers from <see cref="SimulatedNode.Random"/>, and
/// must not start threads. Code that continues on the thread pool (<c>Task.Run</c>, a wall-clock <c>Task.Delay</c>,
/// <c>ConfigureAwait(false)</c> on channels and semaphores) is detected and fails the run.
/// </para>
/// </remarks>
public sealed class SimulatedCluster : IDisposable
{
    private const int ServicePort = 7400;

    private static readonly TimeSpan LongestStart = TimeSpan.FromMilliseconds(200);
    private static readonly TimeSpan DefaultLimit = TimeSpan.FromSeconds(60);
    // The real time that a run which is about to fail gives to code that may have continued on the thread pool.
    private static readonly TimeSpan EscapeLimit = TimeSpan.FromSeconds(1);

    private readonly SimulatedNode[] _nodes;
    private readonly List<Invariant> _invariants = [];
    private readonly EscapeWatch _escapes = new();
    private readonly ScenarioContext _scenario;
    private readonly SeededRandom _starts;
    private SimulationException? _failure;
    private bool _isStarted;
    private bool _isDisposed;

    /// <summary>Creates a cluster with the specified number of nodes and the defaults of <see cref="SimulationOptions"/>.</summary>
    /// <param name="nodes">The number of nodes, 1 to 10,000.</param>
    /// <param name="seed">The random seed.</param>
    /// <exception cref="ArgumentException">The number of nodes is out of range.</exception>
    public SimulatedCluster(int nodes, ulong seed)
        : this(new SimulationOptions { Nodes = nodes, Seed = seed })
    {
    }

    /// <summary>Creates a cluster whose nodes are not started yet.</summary>
    /// <exception cref="ArgumentException">An option is invalid. The message names it.</exception>
    /// <exception cref="QuickSilverOptionsException">An option of the nodes is invalid.</exception>
    public SimulatedCluster(SimulationOptions options)
    {
        ArgumentNullException.ThrowIfNull(options);
        Options = options with { NodeOptions = options.NodeOptions?.Copy()! };
        Options.Check();
        Machines = new SimulatedMachines(options with { SharesPacketMemory = !options.IsSealed });
        Time = new ScenarioTime(Machines);
        Random = new SimulatedRandom(SeededRandom.Derive(options.Seed, purpose: 9, owner: 0));
        _starts = SeededRandom.Derive(options.Seed, purpose: 10, owner: 0);
        _scenario = new ScenarioContext(Machines.Time, _escapes);
        _nodes = new SimulatedNode[options.Nodes];
        for (int i = 0; i < _nodes.Length; i++)
        {
            _nodes[i] = new SimulatedNode(this, Machines.AddIdleNode());
        }

        if (options.Membership == MembershipPlacement.Dedicated)
        {
            StartService();
        }

        Machines.NodeStarted = Begin;
        Machines.NodeEnded = machine => Of(machine)?.EndLife();
    }

    /// <summary>The options with which the cluster was created.</summary>
    public SimulationOptions Options { get; }

    /// <summary>All nodes by number, whether or not they are started.</summary>
    public IReadOnlyList<SimulatedNode> Nodes => _nodes;

    /// <summary>The number of the membership service's own machine in the network. Null if the service is embedded in the nodes.</summary>
    public int? Service { get; private set; }

    /// <summary>The network between the nodes.</summary>
    public SimulatedNetwork Network => Machines.Network;

    /// <summary>The virtual time since the cluster was created.</summary>
    public TimeSpan Now => Machines.Now;

    /// <summary>The virtual time as a clock with timers, for code of the test itself. Nodes have their own.</summary>
    public TimeProvider Time { get; }

    /// <summary>Random numbers for code of the test itself, drawn from the seed.</summary>
    public Random Random { get; }

    /// <summary>
    /// A hash of all inputs of the nodes so far (each datagram, alarm, request and step of the application, with its time). Two runs of one
    /// seed have the same hash.
    /// </summary>
    public ulong TraceHash => Machines.Trace.Value;

    /// <summary>The number of events so far.</summary>
    public long Events => Machines.Time.EventsFired;

    /// <summary>The schedule that <see cref="RunFaults"/> last started. Null before.</summary>
    public FaultSchedule? Faults { get; private set; }

    internal SimulatedMachines Machines { get; }

    internal EscapeWatch Escapes => _escapes;

    internal ImmutableArray<IPEndPoint> Services { get; set; } = [];

    // One for all: what loggers throw is counted for the whole cluster, and an idle node has nothing of its own for it.
    internal GuardedLoggers Logs => field ??= GuardedLoggers.Of(Options.LoggerFactory ?? NullLoggerFactory.Instance);

    // One for all nodes.
    internal ProtocolOptions ProtocolOptions => field ??= ProtocolOptions.Of(Options.NodeOptions.Copy(), new ProtocolSetup
    {
        TopicSets = Options.TopicSets,
        LeastSends = Options.LeastSends,
        IsSealed = Options.IsSealed,
        PacketsPerKeyEpoch = Options.PacketsPerKeyEpoch,
        Experiments = Options.Experiments,
    });

    // The nodes share what they know of the cluster.
    internal ConfigurationCache Configurations { get; } = new();

    internal Func<SimulatedNode, Task>? Application { get; private set; }

    // What the service must not forget when it ends and begins again.
    private MemoryMembershipStore Store { get; } = new();

    /// <summary>Starts the nodes, each at a random time in the first 200 ms, and runs until all have joined one cluster.</summary>
    /// <param name="application">
    /// The application. Each node's process runs it when the node has joined, and again after each restart. It may return after it has
    /// opened topics and attached handlers, or run forever. Its exceptions fail the run, unless its node was removed.
    /// </param>
    /// <param name="timeout">The maximum virtual time. Default 60 s.</param>
    /// <exception cref="InvalidOperationException">The cluster is already started.</exception>
    /// <exception cref="SimulationException">The nodes did not join within the timeout, or the application failed.</exception>
    public void Start(Func<SimulatedNode, Task>? application = null, TimeSpan? timeout = null)
    {
        if (_isStarted)
        {
            throw new InvalidOperationException("The cluster is already started.");
        }

        _isStarted = true;
        Application = application;
        Machines.Time.AdoptThread();
        var started = _nodes[..(Options.StartedNodes ?? _nodes.Length)];
        foreach (var node in started)
        {
            Machines.After(_starts.UpTo(LongestStart), () =>
            {
                if (!node.IsUp)
                {
                    node.Start();
                }
            });
        }

        int first = 0;
        Eventually("all started nodes have joined one cluster", AreIn, timeout);

        bool IsIn(SimulatedNode node) => node.KnownNodes == started.Length;

        // It is asked after every event: it begins with the node that was not in the last time, and looks at all nodes only when none is
        // left.
        bool AreIn()
        {
            while (first < started.Length && IsIn(started[first]))
            {
                first++;
            }

            return first == started.Length && Array.TrueForAll(started, IsIn);
        }
    }

    /// <summary>Runs the simulation for the specified virtual time.</summary>
    /// <exception cref="SimulationException">An invariant failed, or code under simulation failed.</exception>
    /// <exception cref="InvalidOperationException">Called by code under simulation.</exception>
    public void Run(TimeSpan duration) => Drive(static () => false, duration);

    /// <summary>Runs the simulation until a condition holds. The condition is checked after each event.</summary>
    /// <returns>Whether the condition held within the timeout.</returns>
    /// <inheritdoc cref="Run"/>
    public bool RunUntil(Func<bool> condition, TimeSpan timeout)
    {
        ArgumentNullException.ThrowIfNull(condition);
        return Drive(condition, timeout);
    }

    /// <summary>Runs the simulation until a task has completed.</summary>
    /// <param name="task">The task. Its exception is rethrown.</param>
    /// <param name="timeout">The maximum virtual time. Default 60 s.</param>
    /// <exception cref="SimulationException">
    /// The task did not complete within the timeout, an invariant failed, or code under simulation failed.
    /// </exception>
    /// <exception cref="InvalidOperationException">Called by code under simulation, which must use await instead.</exception>
    public void RunUntilCompleted(Task task, TimeSpan? timeout = null)
    {
        ArgumentNullException.ThrowIfNull(task);
        var within = timeout ?? DefaultLimit;
        if (!task.IsCompleted && !Drive(() => task.IsCompleted, within, isAwaited: true))
        {
            throw Failure(
                $"Timed out after {within} of virtual time waiting for the task, at {Now} under seed {Options.Seed}. "
                + "A task that waits for something outside of the simulation, such as a wall-clock timer, never completes. Pass an async "
                + "method of the test as a function, so that it continues in virtual time: RunUntilCompleted(() => Method()).");
        }

        task.GetAwaiter().GetResult();
    }

    /// <summary>Runs the simulation until a task has completed, and returns its result.</summary>
    /// <inheritdoc cref="RunUntilCompleted(Task, TimeSpan?)"/>
    public T RunUntilCompleted<T>(Task<T> task, TimeSpan? timeout = null)
    {
        RunUntilCompleted((Task)task, timeout);
        return task.Result;
    }

    /// <summary>Runs the simulation until a publish call or another value task has completed.</summary>
    /// <inheritdoc cref="RunUntilCompleted(Task, TimeSpan?)"/>
    public void RunUntilCompleted(ValueTask task, TimeSpan? timeout = null) => RunUntilCompleted(task.AsTask(), timeout);

    /// <summary>
    /// Runs asynchronous code of the test itself, and runs the simulation until it has completed. The code is outside of all nodes, so
    /// faults do not affect it.
    /// </summary>
    /// <param name="scenario">The code.</param>
    /// <param name="timeout">The maximum virtual time. Default 60 s.</param>
    /// <inheritdoc cref="RunUntilCompleted(Task, TimeSpan?)"/>
    public void RunUntilCompleted(Func<Task> scenario, TimeSpan? timeout = null)
    {
        ArgumentNullException.ThrowIfNull(scenario);
        Machines.Time.AdoptThread();
        var done = new TaskCompletionSource();
        _scenario.Post(_ => EndWith(done, scenario), null);
        RunUntilCompleted(done.Task, timeout);
    }

    /// <summary>Runs an action after a delay, outside of all nodes.</summary>
    public void After(TimeSpan delay, Action action)
    {
        ArgumentNullException.ThrowIfNull(action);
        Machines.Time.AdoptThread();
        Machines.After(delay, () => _scenario.Run(static state => ((Action)state!)(), action));
    }

    /// <summary>
    /// Adds an invariant. From now on, the condition is checked after each event. It may throw, for example an assertion's exception,
    /// instead of returning false. It must not change anything.
    /// </summary>
    /// <param name="what">The invariant in words, for the message: "no book is crossed".</param>
    /// <param name="condition">Whether the invariant holds.</param>
    public void Always(string what, Func<bool> condition)
    {
        ArgumentNullException.ThrowIfNull(what);
        ArgumentNullException.ThrowIfNull(condition);
        _invariants.Add(new Invariant(what, condition));
    }

    /// <summary>Requires that a condition becomes true, and runs the simulation until it does.</summary>
    /// <param name="what">The condition in words, for the message: "all books are equal".</param>
    /// <param name="condition">The condition.</param>
    /// <param name="timeout">The maximum virtual time. Default 60 s.</param>
    /// <exception cref="SimulationException">
    /// The condition did not become true within the timeout, an invariant failed, or code under simulation failed.
    /// </exception>
    /// <exception cref="InvalidOperationException">Called by code under simulation.</exception>
    public void Eventually(string what, Func<bool> condition, TimeSpan? timeout = null)
    {
        ArgumentNullException.ThrowIfNull(what);
        ArgumentNullException.ThrowIfNull(condition);
        var within = timeout ?? DefaultLimit;
        if (!Drive(condition, within, isAwaited: true))
        {
            string nodes = string.Join(Environment.NewLine, _nodes.Where(node => !node.IsJoined));
            throw Failure(
                $"Timed out after {within} waiting until {what} (now {Now}, seed {Options.Seed})."
                + (nodes.Length > 0 ? $"{Environment.NewLine}Not joined:{Environment.NewLine}{nodes}" : ""));
        }
    }

    /// <summary>
    /// Runs a schedule of faults to its end and heals all faults. Afterwards, use <see cref="Eventually"/> to require progress.
    /// </summary>
    /// <param name="schedule">The schedule. Null: drawn from <see cref="SimulationOptions.Faults"/> and the seed.</param>
    /// <exception cref="SimulationException">An invariant failed, or code under simulation failed.</exception>
    /// <exception cref="ArgumentException">The plan is invalid.</exception>
    /// <exception cref="InvalidOperationException">Called by code under simulation.</exception>
    public void RunFaults(FaultSchedule? schedule = null)
    {
        schedule ??= FaultSchedule.Draw(Options.Faults ?? new FaultPlan(), Options.Seed, _nodes.Length);
        Faults = schedule;
        Machines.Time.AdoptThread();
        schedule.Start(Machines, this);
        var actions = schedule.Actions;
        Run(actions.Count == 0 ? TimeSpan.Zero : actions[^1].At);
        Heal();
    }

    /// <summary>Heals all faults: resets links, partitions, pauses and shortages, and restarts crashed nodes.</summary>
    public void Heal()
    {
        Machines.Time.AdoptThread();
        Machines.Heal();
    }

    /// <summary>Ends all nodes immediately, without notifying them. Their pending operations never complete.</summary>
    public void Dispose()
    {
        if (_isDisposed)
        {
            return;
        }

        _isDisposed = true;
        Machines.Time.AdoptThread();
        var outer = SynchronizationContext.Current;
        SynchronizationContext.SetSynchronizationContext(null);
        try
        {
            Machines.NodeStarted = null;
            foreach (var node in _nodes)
            {
                node.CleanUp();
            }
        }
        finally
        {
            SynchronizationContext.SetSynchronizationContext(outer);
        }
    }

    internal string NameOf(NodeKey key)
    {
        foreach (var node in _nodes)
        {
            if (node.NameAs(key) is { } name)
            {
                return name;
            }
        }

        return key.ToString();
    }

    // The first failure is the cause; what follows from it is not reported.
    internal void Fail(string where, Exception exception) =>
        _failure ??= Failure($"{where} failed at {Now} under seed {Options.Seed}: {exception.Message}", exception);

    private static async void EndWith(TaskCompletionSource done, Func<Task> scenario)
    {
        try
        {
            await scenario();
            done.SetResult();
        }
        catch (Exception exception)
        {
            done.SetException(exception);
        }
    }

    private void StartService()
    {
        var machine = Machines.AddService();
        Service = machine.Number;
        Services = [new IPEndPoint(machine.Address, ServicePort)];
        Serve(machine);
    }

    private void Serve(SimulatedMachine machine)
    {
        var service = new MembershipService(
            machine.Environment,
            ProtocolOptions.Service,
            Store,
            new ServiceCounters(),
            Logs.CreateLogger("QuickSilver.Membership"));
        service.Start(Services[0]);
    }

    private void Begin(SimulatedMachine machine)
    {
        if (machine.IsService)
        {
            Serve(machine);
        }
        else
        {
            Of(machine)?.BeginLife();
        }
    }

    private SimulatedNode? Of(SimulatedMachine machine) => machine.Number < _nodes.Length ? _nodes[machine.Number] : null;

    // isAwaited: the run fails if the condition does not hold.
    private bool Drive(Func<bool> condition, TimeSpan timeout, bool isAwaited = false)
    {
        ObjectDisposedException.ThrowIf(_isDisposed, this);
        Machines.Time.AdoptThread();
        // A test framework's context would take what is awaited to another thread.
        var outer = SynchronizationContext.Current;
        SynchronizationContext.SetSynchronizationContext(null);
        _escapes.Enter();
        bool held;
        try
        {
            held = Machines.RunUntil(() => IsBroken() || condition(), timeout);
            if (!held && isAwaited && _escapes.WaitForEscape(EscapeLimit))
            {
                // Reports it.
                _ = IsBroken();
            }
        }
        finally
        {
            _escapes.Leave();
            SynchronizationContext.SetSynchronizationContext(outer);
        }

        return _failure is { } failure ? throw failure : held;
    }

    private bool IsBroken()
    {
        if (_escapes.HasEscaped)
        {
            string where = _escapes.Where is { } method ? $"It was {method}. " : "";
            _failure ??= Failure(
                $"Code under simulation continued on the thread pool before {Now} under seed {Options.Seed}, so runs would differ. "
                + "It used Task.Run, a wall-clock timer or delay, or ConfigureAwait(false) on a channel, a semaphore or another "
                + $"object that completes elsewhere. {where}Start code that must stay outside under ExecutionContext.SuppressFlow.",
                isEscape: true);
        }

        foreach (var invariant in _invariants)
        {
            if (_failure is null)
            {
                Look(invariant);
            }
        }

        return _failure is not null;
    }

    private void Look(Invariant invariant)
    {
        Exception? thrown = null;
        try
        {
            if (invariant.Condition())
            {
                return;
            }
        }
        catch (Exception exception)
        {
            thrown = exception;
        }

        string why = thrown is null ? "" : $": {thrown.Message}";
        _failure = Failure($"The invariant failed at {Now} under seed {Options.Seed}: {invariant.What}{why}.", thrown);
    }

    private SimulationException Failure(string message, Exception? inner = null, bool isEscape = false) =>
        new(message, inner) { Seed = Options.Seed, Time = Now, IsEscape = isEscape };

    private readonly record struct Invariant(string What, Func<bool> Condition);
}
