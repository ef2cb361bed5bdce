using System.Buffers.Binary;
using System.Net;
using System.Security.Cryptography;
using Microsoft.Extensions.Logging;
using QuickSilver.Core.Alarms;
using QuickSilver.Core.Buffers;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Loop;
using QuickSilver.Core.Requests;
using QuickSilver.Core.Storage;
using QuickSilver.Core.Transport;
using QuickSilver.Core.Transport.Datagrams;
using QuickSilver.Core.Transport.Descriptors;
using QuickSilver.Core.Transport.Streams;

namespace QuickSilver.Core.Environment;

// The real house: the machine's clock, chance, sockets, files and one core thread. Start makes one that runs; Dispose ends its
// thread, closes every port and stream that is still open, and may be called from any thread, the core thread included.
internal sealed class MachineEnvironment : INodeEnvironment, IDisposable
{
    private static readonly TimeSpan RenewalInterval = TimeSpan.FromSeconds(5);
    private static readonly TimeSpan LingerLimit = TimeSpan.FromSeconds(1);

    private readonly CoreThread _core;
    private readonly DatagramSocketFactory _ports;
    private readonly ControlStreams _streams;
    private readonly Alarm _renewal;
    private readonly MachineLogs _logs;
    // Those that are open, and some that were closed since the last renewal.
    private readonly List<DatagramSocket> _open = [];
    private readonly RandomStream _random = NewRandomStream();
    private readonly PoolWatch? _pool;
    private Task _lingering = Task.CompletedTask;

    private MachineEnvironment(MachineEnvironmentOptions options, StorageDirectory? storage, ILogger logger)
    {
        LocalAddress = options.LocalAddress;
        Buffers = new SlabPool(options.BufferBytes);
        Buffers.Reserve();
        var coreOptions = new CoreThreadOptions
        {
            Name = options.Name,
            NewPoller = options.NewPoller ?? (() => Poller.Create(options.Poller)),
            LongestNap = options.LongestNap,
            Spin = options.Spin,
        };
        _core = new CoreThread(coreOptions, Buffers, Counters, logger, CloseAll);
        var newStreamThread = () => new StreamThread($"{options.Name} streams", coreOptions.NewPoller, logger);
        Descriptors = options.Descriptors;
        _ports = new DatagramSocketFactory(options.LocalAddress, options.SegmentationOffload, Counters, logger)
        {
            TimeToLive = options.MulticastTimeToLive,
            Descriptors = Descriptors,
        };
        _renewal = new Alarm(Renew);
        _streams = new ControlStreams(_core, newStreamThread, options.Credentials) { Descriptors = Descriptors };
        _logs = new MachineLogs(_core, options.Name, storage);
        _pool = options.WatchesThreadPool
            ? new PoolWatch(this, static () => (ThreadPool.PendingWorkItemCount, ThreadPool.ThreadCount), logger)
            : null;
    }

    public CoreCounters Counters { get; } = new();

    public TimeSpan Now => _core.Now;

    public DateTimeOffset UtcNow => DateTimeOffset.UtcNow;

    public ProcessLabel Label => ProcessLabel.OfThisProcess;

    public SlabPool Buffers { get; }

    public PauseObservers Pauses => _core.Pauses;

    public TimeSpan CaughtUpAt => _core.CaughtUpAt;

    public IPAddress LocalAddress { get; }

    public bool HasLocalAddress => LocalRoute.Has(LocalAddress);

    /// <summary>The thread pool starts no work; null while it does, and if it is not watched. From any thread.</summary>
    public Trouble? PoolTrouble => _pool?.Trouble;

    /// <summary>How often the thread pool began to start no work. From any thread.</summary>
    public long PoolStarvations => _pool?.Starvations ?? 0;

    public DescriptorRoom? Descriptors { get; }

    /// <summary>Whether the caller is on this node's core thread.</summary>
    public bool IsOnCoreThread => _core.IsCurrent;

    /// <exception cref="StorageDirectoryException">The storage directory cannot be used.</exception>
    /// <exception cref="InsufficientMemoryException">There is no address space for packet memory.</exception>
    public static MachineEnvironment Start(MachineEnvironmentOptions options, ILoggerFactory loggers)
    {
        var storage = options.StorageDirectory is { } path ? StorageDirectory.Claim(path, Holder) : null;
        MachineEnvironment environment;
        try
        {
            environment = new MachineEnvironment(options, storage, GuardedLoggers.Of(loggers).CreateLogger("QuickSilver.Core"));
        }
        catch
        {
            storage?.Dispose();
            throw;
        }

        environment._core.Start();
        if (environment._pool is { } pool)
        {
            environment.Post(new ActionRequest(pool.Begin));
        }

        return environment;
    }

    public ulong NextRandom() => _random.Next();

    public void FillSecret(Span<byte> secret) => RandomNumberGenerator.Fill(secret);

    public void Schedule(Alarm alarm, TimeSpan delay) => _core.Schedule(alarm, delay);

    public void Cancel(Alarm alarm) => _core.Cancel(alarm);

    public void Post(Request request) => _core.Post(request);

    public void Defer(WorkClass workClass, Request request) => _core.Defer(workClass, request);

    public IDatagramPort OpenPort(DatagramPortOptions options, IDatagramReceiver receiver)
    {
        _core.ThrowUnlessCurrent();
        var port = _ports.Open(options);
        try
        {
            _core.Adopt(port, receiver, options.Receives);
        }
        catch
        {
            port.Dispose();
            throw;
        }

        _open.Add(port);
        if (!_renewal.IsPending)
        {
            Schedule(_renewal, RenewalInterval);
        }

        return port;
    }

    public IControlListener Listen(IPEndPoint local, IControlAcceptor acceptor)
    {
        _core.ThrowUnlessCurrent();
        return _streams.Listen(local, acceptor);
    }

    public IControlStream Connect(IPEndPoint remote, IControlStreamHandler handler)
    {
        _core.ThrowUnlessCurrent();
        return _streams.Connect(LocalAddress, remote, handler);
    }

    public bool HasStorage => _logs.HasDirectory;

    public INodeLog OpenLog(LogOptions options, ILogObserver observer)
    {
        _core.ThrowUnlessCurrent();
        return _logs.Open(options, observer);
    }

    public void ListLogs(Action<LogListing> completed)
    {
        _core.ThrowUnlessCurrent();
        _logs.List(completed);
    }

    public void DeleteLog(string name, Action<LogException?> completed)
    {
        _core.ThrowUnlessCurrent();
        _logs.Delete(name, completed);
    }

    public void Dispose()
    {
        _core.Stop();
        if (!_core.IsCurrent)
        {
            // The thread has ended, so this is its last word. What is queued goes out, but the wait is bounded.
            _lingering.Wait(LingerLimit);
            _logs.End(LingerLimit);
        }
    }

    // An interface that went and came back under the same address has forgotten its groups, without a notice.
    private void Renew()
    {
        _open.RemoveAll(static port => port.IsClosed);
        _ports.Refresh();
        foreach (var port in _open)
        {
            port.Renew();
        }

        Buffers.GiveBack();

        if (_open.Count > 0)
        {
            Schedule(_renewal, RenewalInterval);
        }
    }

    private void CloseAll()
    {
        _lingering = _streams.CloseAll();
        _logs.End(TimeSpan.Zero);
        Buffers.End();
    }

    private static string Holder
    {
        get
        {
            var process = ProcessLabel.OfThisProcess;
            return $"process {process.ProcessId} ({process.Application}) on {process.Machine}";
        }
    }

    private static RandomStream NewRandomStream()
    {
        Span<byte> seed = stackalloc byte[sizeof(ulong)];
        RandomNumberGenerator.Fill(seed);
        return new RandomStream(BinaryPrimitives.ReadUInt64LittleEndian(seed));
    }
}
