using System.Net;
using QuickSilver.Core.Alarms;
using QuickSilver.Core.Buffers;
using QuickSilver.Core.Environment;
using QuickSilver.Core.Requests;
using QuickSilver.Core.Storage;
using QuickSilver.Core.Transport;
using QuickSilver.Simulation.Network;

namespace QuickSilver.Simulation.Machines;

// One life of one node, seen from its protocol code: the same doors as on a machine, with virtual time, the simulated network
// and the machine's disk behind them. Everything that the core thread would do is an event that passes Admit: there a paused or
// busy node makes it wait, in order, and a dead one never does it. After the end all doors are shut without complaint where
// a dead process could not complain either.
internal sealed class SimulatedEnvironment : INodeEnvironment
{
    // How much may wait for the network card: what a system holds in front of it.
    private static readonly TimeSpan CardQueue = TimeSpan.FromMilliseconds(20);

    private readonly SimulatedMachines _cluster;
    private readonly VirtualTime _time;
    private readonly SeededRandom _random;
    private readonly SeededRandom _refusals;
    // What waits for a busy or paused node, and what ends the wait; null before the first.
    private Queue<NodeEvent>? _held;
    private WakeEvent? _wake;
    private TimeSpan _busyUntil;
    private TimeSpan _cardBusyUntil;
    private bool _waking;

    internal SimulatedEnvironment(SimulatedMachines cluster, SimulatedMachine node)
    {
        _cluster = cluster;
        _time = cluster.Time;
        Node = node;
        _random = SeededRandom.Derive(cluster.Options.Seed, purpose: 1, ((ulong)(uint)node.Number << 32) | (uint)node.Lives);
        _refusals = SeededRandom.Derive(cluster.Options.Seed, purpose: 13, ((ulong)(uint)node.Number << 32) | (uint)node.Lives);
        Leases = cluster.Options.TrackLeases ? new LeaseTracker() : null;
        Buffers = new SlabPool(cluster.Options.PoolBytes) { Tracker = Leases };
        Intake = new SimulatedIntake(Buffers);
        Endpoints = new NodeEndpoints(this);
    }

    public SimulatedMachine Node { get; }

    public bool IsAlive { get; private set; } = true;

    public TimeSpan Now => Node.Clock.At(_time.Now);

    public DateTimeOffset UtcNow => _cluster.Options.Epoch + Now + Node.ClockStep;

    public SlabPool Buffers { get; }

    public LeaseTracker? Leases { get; }

    public IPAddress LocalAddress => Node.Address;

    internal NodeEndpoints Endpoints { get; }

    internal SimulatedIntake Intake { get; }

    internal SimulatedMachines Cluster => _cluster;

    /// <summary>How long its core thread has been busy.</summary>
    internal TimeSpan Spent { get; private set; }

    // When the core thread has done what it is doing.
    private TimeSpan Free => _busyUntil > _time.Now ? _busyUntil : _time.Now;

    private bool IsAnyHeld => _held is { Count: > 0 };

    private bool CanRun => !Node.IsPaused && _time.Now >= _busyUntil;

    public ulong NextRandom() => _random.Next();

    public void Schedule(Alarm alarm, TimeSpan delay)
    {
        _time.CheckThread();
        Detach(alarm);
        if (!IsAlive)
        {
            return;
        }

        if (!_cluster.SpareTickets.TryPop(out var ticket))
        {
            ticket = new AlarmTicket(this);
        }

        alarm.Due = VirtualTime.Add(Now, delay);
        ticket.Attach(this, alarm);
        _time.At(VirtualTime.Add(_time.Now, Node.Clock.TrueLength(delay)), ticket);
    }

    public void Cancel(Alarm alarm)
    {
        _time.CheckThread();
        Detach(alarm);
    }

    public void Post(Request request)
    {
        _time.CheckThread();
        if (request.Next is not null)
        {
            throw new InvalidOperationException("The request is already queued. Post it again after its Execute was called.");
        }

        if (!IsAlive)
        {
            return;
        }

        if (!_cluster.SpareRequests.TryPop(out var posted))
        {
            posted = new RequestEvent(this);
        }

        posted.Attach(this, request);
        _time.At(_time.Now, posted);
    }

    public IDatagramPort OpenPort(DatagramPortOptions options, IDatagramReceiver receiver) => Endpoints.OpenPort(options, receiver);

    public IControlListener Listen(IPEndPoint local, IControlAcceptor acceptor) => Endpoints.Listen(local, acceptor);

    public IControlStream Connect(IPEndPoint remote, IControlStreamHandler handler)
    {
        _time.CheckThread();
        return SimulatedConnection.Begin(this, remote, handler);
    }

    public INodeLog OpenLog(LogOptions options, ILogObserver observer) => Node.Disk.Open(this, options, observer);

    /// <summary>A step of the process's own code.</summary>
    internal void PostStep(ProcessContext context, SendOrPostCallback step, object? state)
    {
        if (IsAlive)
        {
            _time.At(_time.Now, new StepEvent(context, this, step, state));
        }
    }

    internal void Admit(NodeEvent what)
    {
        if (!IsAlive)
        {
            what.Discard();
        }
        else if (CanRun && !IsAnyHeld)
        {
            Run(what);
        }
        else
        {
            (_held ??= new()).Enqueue(what);
            ScheduleWake();
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

    /// <summary>
    /// The core thread sends: when the last of it leaves the network card. False: the card has too much to send before.
    /// </summary>
    internal bool TrySend(int bytes, int datagrams, out TimeSpan leaves)
    {
        var model = Node.Model;
        leaves = Free;
        if (model.SendBytesPerSecond is not null && _cardBusyUntil - leaves > CardQueue)
        {
            return false;
        }

        Spend((model.CostPerSentDatagram * datagrams) + (model.CostPerKilobyte * (bytes / 1000.0)));
        leaves = Free;
        if (model.SendBytesPerSecond is { } rate)
        {
            long ticks = (long)(((Int128)bytes * TimeSpan.TicksPerSecond + rate - 1) / rate);
            leaves = _cardBusyUntil = (_cardBusyUntil > leaves ? _cardBusyUntil : leaves) + TimeSpan.FromTicks(ticks);
        }

        return true;
    }

    /// <summary>Why the system refuses this call of the core thread; null: it does not.</summary>
    internal string? Refusal(SystemCalls call) => Node.Faults.Refusals.Of(call, _refusals);

    internal void Wake() => ScheduleWake();

    internal void Trace(TraceKind kind, ulong detail) => _cluster.Trace.Add(_time.Now, Node.Number, kind, detail);

    internal void End(bool silently)
    {
        IsAlive = false;
        while (_held is not null && _held.TryDequeue(out var what))
        {
            what.Discard();
        }

        Endpoints.CloseAll(silently);
    }

    private void Run(NodeEvent what)
    {
        try
        {
            what.Execute();
        }
        catch (Exception e) when (e is not SimulationException)
        {
            string where = $"Node {Node.Number} (life {Node.Lives}) failed at {_time.Now} in {what.Kind}";
            throw new SimulationException($"{where} under seed {_cluster.Options.Seed}: {e.Message}", e);
        }

        Spend(Node.Model.CostPerEvent + Node.Faults.Slowness);
    }

    private void ScheduleWake()
    {
        if (_waking || !IsAnyHeld || Node.IsPaused || !IsAlive)
        {
            return;
        }

        _waking = true;
        _time.At(_busyUntil, _wake ??= new WakeEvent(this));
    }

    private void RunHeld()
    {
        _waking = false;
        while (IsAlive && CanRun && _held!.TryDequeue(out var what))
        {
            Run(what);
        }

        ScheduleWake();
    }

    private void Detach(Alarm alarm)
    {
        switch (alarm.Queue)
        {
            case null:
                return;
            case AlarmTicket ticket when ticket.Life == this:
                ticket.Detach();
                return;
            default:
                throw new InvalidOperationException("The alarm is pending in another environment. Use an alarm with one node only.");
        }
    }

    private sealed class WakeEvent(SimulatedEnvironment life) : VirtualEvent
    {
        internal override void Fire() => life.RunHeld();
    }

    private sealed class StepEvent(ProcessContext context, SimulatedEnvironment life, SendOrPostCallback step, object? state)
        : NodeEvent(life)
    {
        internal override TraceKind Kind => TraceKind.Step;

        internal override void Execute()
        {
            Life.Trace(TraceKind.Step, 0);
            context.Run(step, state);
        }
    }
}
