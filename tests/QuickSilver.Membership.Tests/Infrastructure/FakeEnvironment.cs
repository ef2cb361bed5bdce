using System.Net;
using QuickSilver.Core.Alarms;
using QuickSilver.Core.Buffers;
using QuickSilver.Core.Environment;
using QuickSilver.Core.Requests;
using QuickSilver.Core.Storage;
using QuickSilver.Core.Transport;

namespace QuickSilver.Membership.Tests.Infrastructure;

internal sealed class FakeEnvironment(FakeWorld world, IPAddress address, ulong seed) : INodeEnvironment
{
    private readonly List<FakeStream> _streams = [];
    private readonly List<Action> _held = [];
    private ulong _random = seed;
    private int _nextPort = 40_000;
    private TimeSpan _pausedAt;

    public FakeWorld World { get; } = world;

    public bool IsCrashed { get; private set; }

    // The identity that it proves to the nodes to which it connects; null: none.
    public string? Identity { get; set; }

    /// <summary>When the certificate ends that it shows from now on; null: it shows none.</summary>
    public DateTimeOffset? CertificateUntil { get; set; }

    public bool IsPaused { get; private set; }

    // False: opening a group port is refused, as where the port is taken.
    public bool AllowsGroups { get; set; } = true;

    // False: listening is refused, as where the port is taken.
    public bool AllowsListeners { get; set; } = true;

    /// <summary>Where it has begun to connect to.</summary>
    public List<IPEndPoint> Connected { get; } = [];

    public TimeSpan ClockError { get; set; }

    public TimeSpan Now => World.Now;

    public DateTimeOffset UtcNow => World.UtcNow + ClockError;

    // Of this node alone: test classes run side by side, and a pool belongs to one thread.
    public SlabPool Buffers { get; } = new(64 << 20);

    public PauseObservers Pauses { get; } = new();

    public IPAddress LocalAddress { get; } = address;

    public bool HasLocalAddress { get; set; } = true;

    public ulong NextRandom()
    {
        _random += 0x9E3779B97F4A7C15;
        ulong z = (_random ^ (_random >> 30)) * 0xBF58476D1CE4E5B9;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
        return z ^ (z >> 31);
    }

    public void Schedule(Alarm alarm, TimeSpan delay)
    {
        Assert.True(delay >= TimeSpan.Zero, "an alarm in the past");
        object setting = new();
        alarm.Queue = setting;
        alarm.Due = Now + delay;
        World.After(delay, () => Do(() =>
        {
            if (alarm.Queue == setting)
            {
                alarm.Queue = null;
                alarm.Fire();
            }
        }));
    }

    public void Cancel(Alarm alarm) => alarm.Queue = null;

    public void Defer(WorkClass workClass, Request request) => Post(request);

    public void Post(Request request) => World.After(TimeSpan.Zero, () => Do(request.Execute));

    public IDatagramPort OpenPort(DatagramPortOptions options, IDatagramReceiver receiver)
    {
        if (options.Group is not null && !AllowsGroups)
        {
            throw new TransportException("groups are not allowed here");
        }

        var local = new IPEndPoint(options.Group ?? LocalAddress, options.Port == 0 ? _nextPort++ : options.Port);
        var port = new FakePort(this, local, receiver);
        World.Ports.Add(port);
        return port;
    }

    public IControlListener Listen(IPEndPoint local, IControlAcceptor acceptor)
    {
        var endPoint = new IPEndPoint(local.Address, local.Port == 0 ? _nextPort++ : local.Port);
        if (!AllowsListeners || World.Listeners.ContainsKey(endPoint))
        {
            throw new TransportException($"{endPoint} is in use");
        }

        var listener = new FakeListener(this, endPoint, acceptor);
        World.Listeners.Add(endPoint, listener);
        return listener;
    }

    public IControlStream Connect(IPEndPoint remote, IControlStreamHandler handler)
    {
        var near = new FakeStream(this, remote) { Handler = handler };
        _streams.Add(near);
        Connected.Add(remote);
        World.After(FakeWorld.Latency * 2, () => near.Establish(remote));
        return near;
    }

    public INodeLog OpenLog(LogOptions options, ILogObserver observer) =>
        throw LogException.Of(LogError.NoDirectory, "open", options.Name, "there is no disk here");

    public void ListLogs(Action<LogListing> completed) =>
        throw LogException.Of(LogError.NoDirectory, "open", "log", "there is no disk here");

    public void DeleteLog(string name, Action<LogException?> completed) =>
        throw LogException.Of(LogError.NoDirectory, "open", "log", "there is no disk here");

    public void Track(FakeStream stream) => _streams.Add(stream);

    /// <summary>Runs an event of this node: not when it crashed, later when it is paused.</summary>
    public void Do(Action action)
    {
        if (IsPaused)
        {
            _held.Add(action);
        }
        else if (!IsCrashed)
        {
            action();
        }
    }

    /// <summary>The process dies: its streams break, its ports close, and nothing of it runs again.</summary>
    public void Crash()
    {
        IsCrashed = true;
        World.Ports.RemoveAll(port => port.Owner == this);
        foreach (var listener in World.Listeners.Values.Where(listener => listener.Owner == this).ToArray())
        {
            World.Listeners.Remove(listener.LocalEndPoint);
        }

        _streams.ForEach(stream => stream.Break("connection reset"));
    }

    public void BreakStreams(string reason = "connection reset") =>
        _streams.ToList().ForEach(stream => stream.BreakBothEnds(reason));

    public void Pause()
    {
        IsPaused = true;
        _pausedAt = Now;
    }

    /// <summary>Continues, and notices how long it stood still before anything else.</summary>
    public void Resume()
    {
        IsPaused = false;
        Pauses.Report(new Pause(Now - _pausedAt, PauseCause.NotRunning));
        var held = _held.ToArray();
        _held.Clear();
        foreach (var action in held)
        {
            Do(action);
        }
    }
}

internal sealed class FakeListener(FakeEnvironment owner, IPEndPoint local, IControlAcceptor acceptor) : IControlListener
{
    public FakeEnvironment Owner { get; } = owner;

    public IControlAcceptor Acceptor { get; } = acceptor;

    public IPEndPoint LocalEndPoint { get; } = local;

    public void Dispose() => Owner.World.Listeners.Remove(LocalEndPoint);
}
