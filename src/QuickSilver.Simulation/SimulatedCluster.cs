using System.Net;
using Microsoft.Extensions.Logging.Abstractions;
using QuickSilver.Composition;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Membership.Diagnostics;
using QuickSilver.Membership.Service;
using QuickSilver.Simulation.Machines;

namespace QuickSilver.Simulation;

/// <summary>
/// Whole QuickSilver nodes with their topics and their users' code on simulated machines, in virtual time, from a seed: the same
/// seed gives the same run, to the byte.
/// </summary>
/// <remarks>
/// <para>
/// One thread does everything, the one that calls <see cref="Run"/> or another method that runs virtual time; time passes only
/// within these. Calls from other threads are refused with <see cref="InvalidOperationException"/>. Between two runs another
/// thread may go on.
/// </para>
/// <para>
/// Code under simulation may await: what it awaits goes on in virtual time, on the same thread. It must take the time from
/// <see cref="SimulatedNode.Time"/> (<c>Task.Delay(wait, node.Time)</c>) and chance from <see cref="SimulatedNode.Random"/>, and
/// start no threads. Code that goes on in the thread pool all the same (<c>Task.Run</c>, <c>Task.Delay</c> of the wall clock,
/// <c>ConfigureAwait(false)</c> on channels and semaphores) is found, and fails the run.
/// </para>
/// </remarks>
public sealed class SimulatedCluster : IDisposable
{
    private const int ServicePort = 7400;

    private static readonly TimeSpan LongestStart = TimeSpan.FromMilliseconds(200);
    private static readonly TimeSpan DefaultLimit = TimeSpan.FromSeconds(60);

    private readonly SimulatedNode[] _nodes;
    private readonly List<Invariant> _invariants = [];
    private readonly EscapeWatch _escapes = new();
    private readonly ScenarioContext _scenario;
    private readonly SeededRandom _starts;
    private SimulationException? _failure;
    private bool _isStarted;
    private bool _isDisposed;

    /// <summary>A cluster of so many nodes, with all else as <see cref="SimulationOptions"/> has it.</summary>
    /// <param name="nodes">1 to 10,000.</param>
    /// <param name="seed">What all chance is drawn from.</param>
    /// <exception cref="ArgumentException">That is not how many nodes there may be.</exception>
    public SimulatedCluster(int nodes, ulong seed)
        : this(new SimulationOptions { Nodes = nodes, Seed = seed })
    {
    }

    /// <summary>A cluster whose nodes are not started yet.</summary>
    /// <exception cref="ArgumentException">An option is wrong; the message names it.</exception>
    /// <exception cref="QuickSilverOptionsException">An option of the nodes is wrong.</exception>
    public SimulatedCluster(SimulationOptions options)
    {
        ArgumentNullException.ThrowIfNull(options);
        options.Check();
        Options = options;
        Machines = new SimulatedMachines(options with { SharesPacketMemory = true });
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

    /// <summary>What it was made with.</summary>
    public SimulationOptions Options { get; }

    /// <summary>All nodes, started or not, by their numbers.</summary>
    public IReadOnlyList<SimulatedNode> Nodes => _nodes;

    /// <summary>The number of the membership service's own machine in the network; null when it is embedded in the nodes.</summary>
    public int? Service { get; private set; }

    /// <summary>The network between them.</summary>
    public SimulatedNetwork Network => Machines.Network;

    /// <summary>Virtual time since the cluster was made.</summary>
    public TimeSpan Now => Machines.Now;

    /// <summary>The same as a clock with timers, for code of the test itself; nodes have their own.</summary>
    public TimeProvider Time { get; }

    /// <summary>Chance for code of the test itself, drawn from the seed.</summary>
    public Random Random { get; }

    /// <summary>
    /// A hash over all that the nodes were given until now (each datagram, alarm, request and step of the application, with its
    /// time): two runs of one seed have the same.
    /// </summary>
    public ulong TraceHash => Machines.Trace.Value;

    /// <summary>How many events have happened.</summary>
    public long Events => Machines.Time.EventsFired;

    /// <summary>What <see cref="RunFaults"/> last began; null before.</summary>
    public FaultSchedule? Faults { get; private set; }

    internal SimulatedMachines Machines { get; }

    internal EscapeWatch Escapes => _escapes;

    internal IPEndPoint? ServiceAt { get; private set; }

    // One for all: what loggers throw is counted for the whole cluster, and an idle node has nothing of its own for it.
    internal GuardedLoggers Logs => field ??= GuardedLoggers.Of(Options.Logs ?? NullLoggerFactory.Instance);

    // One for all nodes; a node that starts after its user has changed an option finds it changed.
    internal ProtocolOptions ProtocolOptions => field?.Node == Options.NodeOptions
        ? field
        : field = new ProtocolOptions(Options.NodeOptions with { }, Options.TokenInterval, Options.FeedbackRanges);

    internal Func<SimulatedNode, Task>? Application { get; private set; }

    // What the service must not forget when it ends and begins anew.
    private MemoryMembershipStore Store { get; } = new();

    /// <summary>
    /// Starts the nodes, each at a moment of its own in the first 200 ms, and runs until all have joined one cluster.
    /// </summary>
    /// <param name="application">
    /// What each node's process runs when it has joined, and runs again after each of its restarts. It may end once it has opened
    /// topics and attached handlers, or go on for ever. What it throws fails the run, unless its node was removed.
    /// </param>
    /// <param name="limit">How much virtual time that may take. Default 60 s.</param>
    /// <exception cref="InvalidOperationException">It was started before.</exception>
    /// <exception cref="SimulationException">The nodes did not join within the limit, or the application failed.</exception>
    public void Start(Func<SimulatedNode, Task>? application = null, TimeSpan? limit = null)
    {
        if (_isStarted)
        {
            throw new InvalidOperationException("The cluster was started before.");
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
        Eventually("all nodes that were started have joined one cluster", AreIn, limit);

        bool IsIn(SimulatedNode node) => node.KnownNodes == started.Length;

        // It is asked after every event: looks on from whoever was not in the last time, and at all only when there is none left.
        bool AreIn()
        {
            while (first < started.Length && IsIn(started[first]))
            {
                first++;
            }

            return first == started.Length && Array.TrueForAll(started, IsIn);
        }
    }

    /// <summary>Lets this much virtual time pass.</summary>
    /// <exception cref="SimulationException">Something that must always hold did not, or code under simulation failed.</exception>
    /// <exception cref="InvalidOperationException">Called by code under simulation.</exception>
    public void Run(TimeSpan duration) => Drive(static () => false, duration);

    /// <summary>Lets virtual time pass until a condition holds, looked at whenever something has happened.</summary>
    /// <returns>Whether it held within the limit.</returns>
    /// <inheritdoc cref="Run"/>
    public bool RunUntil(Func<bool> condition, TimeSpan limit)
    {
        ArgumentNullException.ThrowIfNull(condition);
        return Drive(condition, limit);
    }

    /// <summary>Lets virtual time pass until a task has ended.</summary>
    /// <param name="task">The task; its exception is thrown here.</param>
    /// <param name="limit">How much virtual time that may take. Default 60 s.</param>
    /// <exception cref="SimulationException">
    /// It has not ended within the limit, something that must always hold did not, or code under simulation failed.
    /// </exception>
    /// <exception cref="InvalidOperationException">Called by code under simulation, which awaits instead.</exception>
    public void Await(Task task, TimeSpan? limit = null)
    {
        ArgumentNullException.ThrowIfNull(task);
        var within = limit ?? DefaultLimit;
        if (!task.IsCompleted && !Drive(() => task.IsCompleted, within))
        {
            throw new SimulationException(
                $"What was awaited had not ended after {within} of virtual time, at {Now} under seed {Options.Seed}. "
                + "If it waits for something outside of the simulation, such as a timer of the wall clock, it never will; if it is an "
                + "async method of the test itself, pass it as a function, so that it goes on in virtual time: Await(() => Method()).");
        }

        task.GetAwaiter().GetResult();
    }

    /// <summary>Lets virtual time pass until a task has ended, and returns its result.</summary>
    /// <inheritdoc cref="Await(Task, TimeSpan?)"/>
    public T Await<T>(Task<T> task, TimeSpan? limit = null)
    {
        Await((Task)task, limit);
        return task.Result;
    }

    /// <summary>Lets virtual time pass until a publish, or whatever gave the task, has ended.</summary>
    /// <inheritdoc cref="Await(Task, TimeSpan?)"/>
    public void Await(ValueTask task, TimeSpan? limit = null) => Await(task.AsTask(), limit);

    /// <summary>
    /// Runs code of the test itself that awaits, and lets virtual time pass until it has ended. It stands outside of all nodes: no
    /// fault touches it.
    /// </summary>
    /// <param name="scenario">The code.</param>
    /// <param name="limit">How much virtual time it may take. Default 60 s.</param>
    /// <inheritdoc cref="Await(Task, TimeSpan?)"/>
    public void Await(Func<Task> scenario, TimeSpan? limit = null)
    {
        ArgumentNullException.ThrowIfNull(scenario);
        Machines.Time.AdoptThread();
        var done = new TaskCompletionSource();
        _scenario.Post(_ => EndWith(done, scenario), null);
        Await(done.Task, limit);
    }

    /// <summary>Does something a while from now, outside of all nodes.</summary>
    public void After(TimeSpan delay, Action action)
    {
        ArgumentNullException.ThrowIfNull(action);
        Machines.Time.AdoptThread();
        Machines.After(delay, () => _scenario.Run(static state => ((Action)state!)(), action));
    }

    /// <summary>
    /// Demands that a condition holds always: it is looked at whenever something has happened, from now on. It may throw, for
    /// instance an assertion's exception, in place of returning false. It must change nothing.
    /// </summary>
    /// <param name="what">What must hold, for the message: "no book is crossed".</param>
    /// <param name="condition">Whether it does.</param>
    public void Always(string what, Func<bool> condition)
    {
        ArgumentNullException.ThrowIfNull(what);
        ArgumentNullException.ThrowIfNull(condition);
        _invariants.Add(new Invariant(what, condition));
    }

    /// <summary>Demands that a condition comes to hold, and lets virtual time pass until it does.</summary>
    /// <param name="what">What must come to be, for the message: "all books are equal".</param>
    /// <param name="condition">Whether it has.</param>
    /// <param name="limit">How much virtual time that may take. Default 60 s.</param>
    /// <exception cref="SimulationException">
    /// It did not, something that must always hold did not, or code under simulation failed.
    /// </exception>
    /// <exception cref="InvalidOperationException">Called by code under simulation.</exception>
    public void Eventually(string what, Func<bool> condition, TimeSpan? limit = null)
    {
        ArgumentNullException.ThrowIfNull(what);
        ArgumentNullException.ThrowIfNull(condition);
        var within = limit ?? DefaultLimit;
        if (!Drive(condition, within))
        {
            string nodes = string.Join(Environment.NewLine, _nodes.Where(node => !node.IsJoined));
            throw new SimulationException(
                $"It did not come to be within {within} that {what} (now {Now}, seed {Options.Seed})."
                + (nodes.Length > 0 ? $"{Environment.NewLine}Not joined:{Environment.NewLine}{nodes}" : ""));
        }
    }

    /// <summary>
    /// The first of two phases: faults. Runs a schedule from now to its end and heals everything, so that afterwards progress can
    /// be demanded with <see cref="Eventually"/>: what the network or a node did is no excuse any more.
    /// </summary>
    /// <param name="schedule">Null: drawn from <see cref="SimulationOptions.Faults"/> and the seed.</param>
    /// <exception cref="SimulationException">Something that must always hold did not, or code under simulation failed.</exception>
    /// <exception cref="ArgumentException">The plan cannot be drawn from.</exception>
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

    /// <summary>
    /// Undoes all that faults did: links, partitions, pauses, shortages. Nodes that crashed are started anew.
    /// </summary>
    public void Heal()
    {
        Machines.Time.AdoptThread();
        Machines.Heal();
    }

    /// <summary>Ends all nodes where they are, without their knowledge. What they wait for never comes.</summary>
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

    // The first failure is the cause; what follows from it is not told.
    internal void Fail(string where, Exception exception) =>
        _failure ??= new SimulationException($"{where} failed at {Now} under seed {Options.Seed}: {exception.Message}", exception);

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
        ServiceAt = new IPEndPoint(machine.Address, ServicePort);
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
        service.Start(ServiceAt!);
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

    private bool Drive(Func<bool> condition, TimeSpan limit)
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
            held = Machines.RunUntil(() => IsBroken() || condition(), limit);
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
            _failure ??= new SimulationException(
                $"Code under simulation went on in the thread pool before {Now} under seed {Options.Seed}: no two runs would be alike. "
                + "It used Task.Run, a timer or a delay of the wall clock, or ConfigureAwait(false) on a channel, a semaphore or "
                + "whatever else completes elsewhere. What must stay outside is started under ExecutionContext.SuppressFlow.");
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
        _failure = new SimulationException($"It did not hold at {Now} under seed {Options.Seed} that {invariant.What}{why}.", thrown);
    }

    private readonly record struct Invariant(string What, Func<bool> Condition);
}
