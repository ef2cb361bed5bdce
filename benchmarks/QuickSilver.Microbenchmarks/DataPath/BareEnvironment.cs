using System.Diagnostics;
using System.Net;
using QuickSilver.Core.Alarms;
using QuickSilver.Core.Buffers;
using QuickSilver.Core.Environment;
using QuickSilver.Core.Requests;
using QuickSilver.Core.Storage;
using QuickSilver.Core.Transport;

namespace QuickSilver.Microbenchmarks.DataPath;

// An environment whose core thread is the benchmark's own: requests run when it pumps, alarms are taken and never fire, ports
// swallow what is sent. The clock is the machine's, since asking it costs.
internal sealed class BareEnvironment : INodeEnvironment
{
    private readonly RequestQueue _requests = new();
    private readonly long _origin = Stopwatch.GetTimestamp();

    public TimeSpan Now => Stopwatch.GetElapsedTime(_origin);

    public DateTimeOffset UtcNow => DateTimeOffset.UnixEpoch + Now;

    public SlabPool Buffers { get; } = new(64L << 20);

    public PauseObservers Pauses { get; } = new();

    public IPAddress LocalAddress => IPAddress.Loopback;

    /// <summary>The receiver of the ports of this environment: the node's packet reader.</summary>
    public IDatagramReceiver? Receiver { get; private set; }

    public IDatagramPort Port { get; } = new BarePort();

    public ulong NextRandom() => 4;

    public void Schedule(Alarm alarm, TimeSpan delay) => alarm.Queue = this;

    public void Cancel(Alarm alarm) => alarm.Queue = null;

    public void Post(Request request) => _requests.Enqueue(request);

    public void Defer(WorkClass workClass, Request request) => Post(request);

    public void Pump()
    {
        while (_requests.TryDequeue() is { } request)
        {
            request.Execute();
        }
    }

    public IDatagramPort OpenPort(DatagramPortOptions options, IDatagramReceiver receiver)
    {
        Receiver = receiver;
        return Port;
    }

    public IControlListener Listen(IPEndPoint local, IControlAcceptor acceptor) => throw new NotSupportedException();

    public IControlStream Connect(IPEndPoint remote, IControlStreamHandler handler) => throw new NotSupportedException();

    public INodeLog OpenLog(LogOptions options, ILogObserver observer) => throw new NotSupportedException();

    public void ListLogs(Action<LogListing> completed) => throw new NotSupportedException();

    public void DeleteLog(string name, Action<LogException?> completed) => throw new NotSupportedException();

    private sealed class BarePort : IDatagramPort
    {
        public IPEndPoint LocalEndPoint { get; } = new(IPAddress.Loopback, 9);

        public int MaxRunSegments => 64;

        public long KernelDrops => 0;

        public int ReceiveBufferBytes => 8 << 20;

        public SendOutcome Send(ReadOnlySpan<byte> run, int segmentBytes, DatagramAddress destination) => SendOutcome.Sent;

        public void Dispose()
        {
        }
    }
}
