using System.Net;
using QuickSilver.Core.Alarms;
using QuickSilver.Core.Buffers;
using QuickSilver.Core.Environment;
using QuickSilver.Core.Requests;
using QuickSilver.Core.Transport;
using QuickSilver.Simulation.Network;

namespace QuickSilver.Simulation.Machines;

// One life of one node, seen from its protocol code: the same doors as on a machine, with virtual time and the simulated
// network behind them. Everything that the core thread would do is an event that passes Admit: there a paused or busy
// node makes it wait, in order, and a dead one never does it. After the end all doors are shut without complaint where
// a dead process could not complain either.
internal sealed class SimulatedEnvironment : INodeEnvironment
{
    // How much may wait for the network card: what a system holds in front of it.
    private static readonly TimeSpan CardQueue = TimeSpan.FromMilliseconds(20);

    private readonly SimulatedMachines _cluster;
    private readonly VirtualTime _time;
    private readonly SeededRandom _random;
    private readonly Queue<NodeEvent> _held = new();
    private readonly Stack<AlarmTicket> _spareTickets = new();
    private readonly Stack<RequestEvent> _spareRequests = new();
    private readonly WakeEvent _wake;
    private TimeSpan _busyUntil;
    private TimeSpan _cardBusyUntil;
    private bool _waking;

    internal SimulatedEnvironment(SimulatedMachines cluster, SimulatedMachine node)
    {
        _cluster = cluster;
        _time = cluster.Time;
        Node = node;
        _random = SeededRandom.Derive(cluster.Options.Seed, purpose: 1, ((ulong)(uint)node.Number << 32) | (uint)node.Lives);
        Leases = cluster.Options.TrackLeases ? new LeaseTracker() : null;
        Buffers = new SlabPool(cluster.Options.PoolBytes) { Tracker = Leases };
        Intake = new SimulatedIntake(Buffers);
        _wake = new WakeEvent(this);
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

        if (!_spareTickets.TryPop(out var ticket))
        {
            ticket = new AlarmTicket(this);
        }

        alarm.Due = VirtualTime.Add(Now, delay);
        ticket.Attach(alarm);
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
            throw new InvalidOperationException("This request is posted already and has not begun to execute.");
        }

        if (!IsAlive)
        {
            return;
        }

        if (!_spareRequests.TryPop(out var posted))
        {
            posted = new RequestEvent(this);
        }

        posted.Attach(request);
        _time.At(_time.Now, posted);
    }

    public IDatagramPort OpenPort(DatagramPortOptions options, IDatagramReceiver receiver) => Endpoints.OpenPort(options, receiver);

    public IControlListener Listen(IPEndPoint local, IControlAcceptor acceptor) => Endpoints.Listen(local, acceptor);

    public IControlStream Connect(IPEndPoint remote, IControlStreamHandler handler)
    {
        _time.CheckThread();
        return SimulatedConnection.Begin(this, remote, handler);
    }

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
        else if (CanRun && _held.Count == 0)
        {
            Run(what);
        }
        else
        {
            _held.Enqueue(what);
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

    internal void Wake() => ScheduleWake();

    internal void Trace(TraceKind kind, ulong detail) => _cluster.Trace.Add(_time.Now, Node.Number, kind, detail);

    internal void End(bool silently)
    {
        IsAlive = false;
        while (_held.TryDequeue(out var what))
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

        Spend(Node.Model.CostPerEvent + Node.Model.Slowness);
    }

    private void ScheduleWake()
    {
        if (_waking || _held.Count == 0 || Node.IsPaused || !IsAlive)
        {
            return;
        }

        _waking = true;
        _time.At(_busyUntil, _wake);
    }

    private void RunHeld()
    {
        _waking = false;
        while (IsAlive && CanRun && _held.TryDequeue(out var what))
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
                throw new InvalidOperationException("This alarm is pending in another environment.");
        }
    }

    private sealed class WakeEvent(SimulatedEnvironment life) : VirtualEvent
    {
        internal override void Fire() => life.RunHeld();
    }

    // An alarm's place in the queue of events. Setting the alarm anew leaves the old place behind, empty.
    private sealed class AlarmTicket(SimulatedEnvironment life) : NodeEvent(life)
    {
        private Alarm? _alarm;
        private bool _queued;

        internal override bool IsStale => _alarm is null;

        internal override TraceKind Kind => TraceKind.Alarm;

        internal void Attach(Alarm alarm)
        {
            _alarm = alarm;
            _queued = true;
            alarm.Queue = this;
        }

        internal void Detach()
        {
            _alarm!.Queue = null;
            _alarm = null;
            if (_queued)
            {
                Life._time.NoteStale();
            }
        }

        internal override void Fire()
        {
            if (_alarm is not null && Life.IsAlive && _alarm.Due - Life.Now is var left && left > TimeSpan.Zero)
            {
                // The node's clock was made slower meanwhile: there it is not due yet.
                Life._time.At(VirtualTime.Add(Life._time.Now, Life.Node.Clock.TrueLength(left)), this);
                return;
            }

            _queued = false;
            base.Fire();
        }

        internal override void Execute()
        {
            var alarm = _alarm;
            Discard();
            if (alarm is not null)
            {
                Life.Trace(TraceKind.Alarm, 0);
                alarm.Fire();
            }
        }

        internal override void Discard()
        {
            if (_alarm is not null)
            {
                _alarm.Queue = null;
                _alarm = null;
            }

            _queued = false;
            Life._spareTickets.Push(this);
        }
    }

    private sealed class RequestEvent(SimulatedEnvironment life) : NodeEvent(life)
    {
        private Request? _request;

        internal override TraceKind Kind => TraceKind.Request;

        // A request that is its own successor is one that is posted: nothing else in virtual time needs the link.
        internal void Attach(Request request)
        {
            _request = request;
            request.Next = request;
        }

        internal override void Execute()
        {
            var request = _request!;
            Discard();
            Life.Trace(TraceKind.Request, 0);
            request.Execute();
        }

        internal override void Discard()
        {
            _request!.Next = null;
            _request = null;
            Life._spareRequests.Push(this);
        }
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
