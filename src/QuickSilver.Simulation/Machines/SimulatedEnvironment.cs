using System.Net;
using System.Runtime.ExceptionServices;
using System.Runtime.InteropServices;
using Microsoft.Extensions.Logging.Abstractions;
using QuickSilver.Core.Alarms;
using QuickSilver.Core.Buffers;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Environment;
using QuickSilver.Core.Loop;
using QuickSilver.Core.Requests;
using QuickSilver.Core.Storage;
using QuickSilver.Core.Transport;
using QuickSilver.Core.Transport.Datagrams;
using QuickSilver.Core.Transport.Descriptors;
using QuickSilver.Simulation.Machines.Time;
using QuickSilver.Simulation.Network;
using QuickSilver.Simulation.Network.Streams;

namespace QuickSilver.Simulation.Machines;

// One life of one node, seen from its protocol code: the same doors as on a machine, with virtual time, the simulated network
// and the machine's disk behind them. After the end all doors are shut without complaint where a dead process could not complain either.
//
// Its core thread is the one of a machine (DutyCycle, with its queues, quanta and alarms, and its moderated wakes) in virtual time. A turn
// has four parts: received runs, alarms, requests, output. Each part is atomic: the cost of its steps moves the node's own time forward,
// and the next part begins when that time has come for all nodes. What arrives meanwhile waits, as in a kernel. A paused node does nothing.
internal sealed class SimulatedEnvironment : INodeEnvironment, IDutyHost, ISimulatedLife
{
    // As the core thread of a machine rests when packet memory is exhausted.
    private static readonly TimeSpan StarvedNap = TimeSpan.FromMilliseconds(1);

    // How much may wait for the network card: what a system holds in front of it.
    private static readonly TimeSpan CardQueue = TimeSpan.FromMilliseconds(20);

    private readonly SimulatedMachines _cluster;
    private readonly VirtualTime _time;
    private readonly SeededRandom _random;
    private readonly SeededRandom _refusals;
    private readonly DutyCycle _cycle;
    // Not readonly: it is a struct that has state of its own.
    private CoreRest _rest = new();
    // The ports that have something, and what else has completed, in the order in which they came to.
    private readonly List<CompletionSource> _completed = [];
    private TurnEvent? _turn;
    private TimeSpan _busyUntil;
    private TimeSpan _cardBusyUntil;
    private TurnPart _part;
    private bool _isInTurn;
    private long _stepsOfTurn;

    internal SimulatedEnvironment(SimulatedMachines cluster, SimulatedMachine node)
    {
        _cluster = cluster;
        _time = cluster.Time;
        Node = node;
        LocalAddress = node.Address;
        _random = SeededRandom.Derive(cluster.Options.Seed, purpose: 1, ((ulong)(uint)node.Number << 32) | (uint)node.Lives);
        _refusals = SeededRandom.Derive(cluster.Options.Seed, purpose: 13, ((ulong)(uint)node.Number << 32) | (uint)node.Lives);
        Leases = cluster.Options.TrackLeases ? new LeaseTracker() : null;
        Buffers = new SlabPool(cluster.Options.PoolBytes) { Tracker = Leases };
        var queues = new PriorityQueues();
        Intake = new CompletionIntake(Buffers, queues, Counters, NullLogger.Instance);
        _cycle = new DutyCycle(this, Intake, queues, Counters);
        Endpoints = new NodeEndpoints(this);
    }

    public SimulatedMachine Node { get; }

    public bool IsAlive { get; private set; } = true;

    public TimeSpan Now => Node.Clock.At(_isInTurn ? Free : _time.Now);

    public DateTimeOffset UtcNow => _cluster.Options.Epoch + Now + Node.ClockStep;

    // All lives of a node have one: what is written of it then has the same length in each.
    public ProcessLabel Label => Node.Label;

    public SlabPool Buffers { get; }

    public PauseObservers Pauses => _cycle.Pauses;

    public TimeSpan CaughtUpAt => _cycle.CaughtUpAt;

    public LeaseTracker? Leases { get; }

    public IPAddress LocalAddress { get; }

    public NodeHeap Heap => Node.Faults.Heap;

    public DescriptorRoom? Descriptors => Node.Faults.Descriptors;

    public bool HasLocalAddress => !Node.HasNoAddress;

    /// <summary>Where its logs lie on the machine's disk; null: nowhere. Its user sets it before the node begins.</summary>
    public string? StorageDirectory { get; set; } = "";

    public NodeEndpoints Endpoints { get; }

    internal CompletionIntake Intake { get; }

    internal CoreCounters Counters { get; } = new();

    public SimulatedMachines Cluster => _cluster;

    /// <summary>How long its core thread has been busy.</summary>
    internal TimeSpan Spent { get; private set; }

    // When the core thread has done what it is doing.
    private TimeSpan Free => _busyUntil > _time.Now ? _busyUntil : _time.Now;

    public ulong NextRandom() => _random.Next();

    public void Schedule(Alarm alarm, TimeSpan delay)
    {
        _time.CheckThread();
        if (!IsAlive)
        {
            _cycle.Cancel(alarm);
            return;
        }

        _cycle.Schedule(alarm, delay > TimeSpan.Zero ? delay : TimeSpan.Zero);
        if (!_isInTurn)
        {
            WakeForAlarms();
        }
    }

    public void Cancel(Alarm alarm)
    {
        _time.CheckThread();
        _cycle.Cancel(alarm);
    }

    public void Post(Request request)
    {
        _time.CheckThread();
        if (!IsAlive)
        {
            return;
        }

        _cycle.Requests.Enqueue(request);
        if (!_isInTurn)
        {
            WakeAt(_time.Now);
        }
    }

    public void Defer(WorkClass workClass, Request request)
    {
        _time.CheckThread();
        if (!IsAlive)
        {
            return;
        }

        _cycle.Defer(workClass, request);
        if (!_isInTurn)
        {
            WakeAt(_time.Now);
        }
    }

    public IDatagramPort OpenPort(DatagramPortOptions options, IDatagramReceiver receiver) => Endpoints.OpenPort(options, receiver);

    public IControlListener Listen(IPEndPoint local, IControlAcceptor acceptor) => Endpoints.Listen(local, acceptor);

    public IControlStream Connect(IPEndPoint remote, IControlStreamHandler handler)
    {
        _time.CheckThread();
        return SimulatedConnection.Begin(this, remote, handler);
    }

    public bool HasStorage => StorageDirectory is not null;

    public INodeLog OpenLog(LogOptions options, ILogObserver observer) => Node.Disk.Open(this, options, observer);

    public void ListLogs(Action<LogListing> completed) => Node.Disk.List(this, completed);

    public void DeleteLog(string name, Action<LogException?> completed) => Node.Disk.Delete(this, name, completed);

    public void RunBeside(IThreadPoolWorkItem work)
    {
        if (Process is { } process)
        {
            process.Post(static state => ((IThreadPoolWorkItem)state!).Execute(), work);
        }
        else
        {
            Post(new ActionRequest(work.Execute));
        }
    }

    /// <summary>The process whose code runs here; null if a test uses the node from outside.</summary>
    internal ProcessContext? Process { get; set; }

    /// <summary>A step of the process's own code.</summary>
    internal void PostStep(ProcessContext context, SendOrPostCallback step, object? state) =>
        Post(new StepRequest(this, context, step, state));

    public void Admit(NodeEvent what)
    {
        _time.CheckThread();
        if (IsAlive)
        {
            what.AsCompletion().Admit();
            _completed.Add(what.AsCompletion());
            // A disk wakes a thread that naps; sockets do not.
            WakeForCompletion(endsNap: what.Kind == CompletionKind.Disk);
        }
        else
        {
            what.Discard();
        }
    }

    public void OnReadable(SimulatedPort port)
    {
        if (!_completed.Contains(port))
        {
            _completed.Add(port);
        }

        WakeForCompletion(endsNap: false);
    }

    private void WakeForCompletion(bool endsNap)
    {
        if (!_isInTurn)
        {
            WakeAt(_rest.IsNapping && !endsNap ? _rest.Since : _time.Now);
        }
    }

    /// <summary>The core thread spent this long on what it is doing: what comes next waits.</summary>
    internal void Spend(TimeSpan cost)
    {
        if (cost > TimeSpan.Zero)
        {
            _busyUntil = VirtualTime.Add(Free, cost);
            Spent += cost;
        }
    }

    public bool TrySend(int bytes, int datagrams, bool toItself, out TimeSpan leaves)
    {
        var model = Node.Model;
        long? card = toItself ? null : model.SendBytesPerSecond;
        leaves = Free;
        if (card is not null && _cardBusyUntil - leaves > CardQueue)
        {
            return false;
        }

        Spend((model.CostPerSentDatagram * datagrams) + (model.CostPerKilobyte * (bytes / 1000.0)));
        leaves = Free;
        if (card is { } rate)
        {
            long ticks = (long)(((Int128)bytes * TimeSpan.TicksPerSecond + rate - 1) / rate);
            leaves = _cardBusyUntil = (_cardBusyUntil > leaves ? _cardBusyUntil : leaves) + TimeSpan.FromTicks(ticks);
        }

        return true;
    }

    public string? Refusal(SystemCalls call) => Node.Faults.Refusals.Of(call, _refusals);

    /// <summary>The node is not paused any more.</summary>
    internal void Wake() => Plan();

    public void Trace(TraceKind kind, ulong detail) => _cluster.Trace.Add(_time.Now, Node.Number, kind, detail);

    internal void End(bool silently)
    {
        IsAlive = false;
        _turn?.Withdraw();
        _turn = null;
        Discard();

        Endpoints.CloseAll(silently);
    }

    internal void OnTurn()
    {
        _turn = null;
        if (!IsAlive || Node.IsPaused)
        {
            return;
        }

        if (_busyUntil > _time.Now)
        {
            // It was given more to do meanwhile.
            WakeAt(_busyUntil);
            return;
        }

        _isInTurn = true;
        _stepsOfTurn = 0;
        do
        {
            DoPart();
        }
        while (_part != TurnPart.Input && IsAlive && _busyUntil <= _time.Now);
        _isInTurn = false;
        if (_part == TurnPart.Input)
        {
            _rest.Begin(isIdle: !_cycle.IsWorkLeft && _completed.Count == 0, Free, Now);
        }

        Plan();
    }

    private void DoPart()
    {
        switch (_part)
        {
            case TurnPart.Input:
                BeginTurn();
                _rest.End(_time.Now, Node.Clock, hasInput: _completed.Count > 0);
                TakeIn();
                _cycle.ServeInput();
                _part = TurnPart.Alarms;
                break;
            case TurnPart.Alarms:
                _cycle.FireAlarms();
                _part = TurnPart.Requests;
                break;
            case TurnPart.Requests:
                _cycle.ExecuteRequests();
                _part = TurnPart.Output;
                break;
            default:
                _cycle.ServeOutput();
                _part = TurnPart.Input;
                break;
        }
    }

    // The thread rested until something came or the next alarm was due; beyond that it was paused.
    private void BeginTurn()
    {
        var rested = !_rest.IsAsleep ? TimeSpan.MinValue : _cycle.TryPeekDue(out var due) ? due : TimeSpan.MaxValue;
        _cycle.BeginTurn(rested);
    }

    private void TakeIn()
    {
        int runs = _cycle.TakeIn(CollectionsMarshal.AsSpan(_completed));
        _rest.Took(runs, Now);
        _completed.RemoveAll(static source => source is SimulatedPort port ? !port.HasDatagrams : !((NodeCompletion)source).HasCompletions);
    }

    // The owners of what has completed and was not taken are notified that it never will be.
    private void Discard()
    {
        var completed = _completed.ToArray();
        _completed.Clear();
        _cycle.Drop();
        foreach (var source in completed)
        {
            (source as NodeCompletion)?.Event.Discard();
        }

        while (_cycle.Requests.TryDequeue() is not null)
        {
        }
    }

    // The next turn: at once where work is left, else with the next alarm; what arrives comes sooner.
    private void Plan()
    {
        if (!IsAlive || Node.IsPaused)
        {
            return;
        }

        if (_part != TurnPart.Input || _cycle.IsWorkLeft || _cycle.Requests.IsAny)
        {
            WakeAt(Free);
        }
        else if (_completed.Count > 0)
        {
            WakeAt(Intake.IsStarved ? VirtualTime.Add(Free, StarvedNap) : _rest.IsNapping ? _rest.Since : Free);
            Intake.EndStarvation();
        }

        WakeForAlarms();
    }

    private void WakeForAlarms()
    {
        if (_cycle.TryPeekDue(out var due))
        {
            WakeAt(VirtualTime.Add(_time.Now, Node.Clock.TrueLength(due - Node.Clock.At(_time.Now))));
        }
    }

    private void WakeAt(TimeSpan due)
    {
        due = due > Free ? due : Free;
        if (Node.IsPaused || _turn?.Due <= due)
        {
            return;
        }

        _turn?.Withdraw();
        if (!_cluster.SpareTurns.TryPop(out _turn))
        {
            _turn = new TurnEvent(_cluster.SpareTurns);
        }

        _turn.Attach(this, due);
        _time.At(due, _turn);
    }

    void IDutyHost.BeginRun(PortSource port, in PlacedRun run)
    {
        var model = Node.Model;
        Spend(((model.CostPerDatagram + Node.Faults.Slowness) * run.Datagrams) + (model.CostPerKilobyte * (run.Length / 1000.0)));
    }

    TimeSpan IDutyHost.EndStep(object handler, TimeSpan began)
    {
        if (handler is not PortSource)
        {
            if (handler is Alarm)
            {
                Trace(TraceKind.Alarm, 0);
            }
            else if (handler is Request and not StepRequest)
            {
                Trace(TraceKind.Request, 0);
            }

            Spend(Node.Model.CostPerEvent + Node.Faults.Slowness);
        }

        if (++_stepsOfTurn > _time.MostEventsPerInstant)
        {
            throw new SimulationException($"A turn of node {Node.Number} does not end at {_time.Now}: it had {_stepsOfTurn} steps.")
            {
                Seed = _cluster.Options.Seed,
                Time = _time.Now,
            };
        }

        return Now;
    }

    PauseCause IDutyHost.OnPause(object? handler, TimeSpan length) => handler is null ? PauseCause.NotRunning : PauseCause.Handler;

    void IDutyHost.OnEscaped(Exception exception, object handler)
    {
        if (exception is SimulationException)
        {
            ExceptionDispatchInfo.Throw(exception);
        }

        string where = $"Node {Node.Number} (life {Node.Lives}) failed at {_time.Now} in {handler}";
        throw new SimulationException($"{where} under seed {_cluster.Options.Seed}: {exception.Message}", exception)
        {
            Seed = _cluster.Options.Seed,
            Time = _time.Now,
        };
    }

    private enum TurnPart
    {
        Input,
        Alarms,
        Requests,
        Output,
    }

    private sealed class StepRequest(SimulatedEnvironment life, ProcessContext context, SendOrPostCallback step, object? state) : Request
    {
        public override void Execute()
        {
            life.Trace(TraceKind.Step, 0);
            context.Run(step, state);
        }
    }
}
