using System.Net;
using QuickSilver.Core.Alarms;
using QuickSilver.Core.Buffers;
using QuickSilver.Core.Environment;
using QuickSilver.Core.Requests;
using QuickSilver.Core.Storage;
using QuickSilver.Core.Transport;

namespace QuickSilver.Multicast.Tests.Infrastructure;

// The environment of one node that a test drives by hand: time stands still until the test advances it, alarms fire only then, and
// what is sent is recorded.
internal sealed class HandDrivenEnvironment : INodeEnvironment
{
    // More than any test needs: alarms that set themselves again for the same instant end in a failure.
    private const int MostAlarms = 100_000;
    private const int MostRequests = 100_000;

    private readonly AlarmQueue _alarms = new();
    private readonly RequestQueue _requests = new();
    private readonly Queue<Request> _deferred = new();

    public TimeSpan Now { get; private set; } = TimeSpan.FromSeconds(100);

    public DateTimeOffset UtcNow => DateTimeOffset.UnixEpoch + Now;

    public SlabPool Buffers { get; } = new(64L << 20);

    public PauseObservers Pauses { get; } = new();

    public IPAddress LocalAddress => IPAddress.Loopback;

    /// <summary>What the next random numbers are.</summary>
    public ulong Random { get; set; }

    public ulong NextRandom() => Random;

    public void Schedule(Alarm alarm, TimeSpan delay) => _alarms.Schedule(alarm, Now + delay);

    public void Cancel(Alarm alarm) => _alarms.Cancel(alarm);

    public void Post(Request request) => _requests.Enqueue(request);

    public void Defer(WorkClass workClass, Request request) => _deferred.Enqueue(request);

    /// <summary>Lets so much time pass: alarms fire in order, each at its own instant, those of the last instant too.</summary>
    public void Advance(TimeSpan by)
    {
        var end = Now + by;
        for (int fired = 0; _alarms.TryPeekDue(out var due) && due <= end; fired++)
        {
            Assert.True(fired < MostAlarms, "Alarms fire without end.");
            Now = due > Now ? due : Now;
            _alarms.TakeDue(Now)!.Fire();
            EndTurn();
        }

        Now = end;
        EndTurn();
    }

    public void Advance(double milliseconds) => Advance(TimeSpan.FromMilliseconds(milliseconds));

    /// <summary>The groups of the ports that were opened, and the ports.</summary>
    public List<(IPAddress? Group, RecordingPort Port)> Opened { get; } = [];

    public IDatagramPort OpenPort(DatagramPortOptions options, IDatagramReceiver receiver)
    {
        var port = new RecordingPort();
        Opened.Add((options.Group, port));
        return port;
    }

    public IControlListener Listen(IPEndPoint local, IControlAcceptor acceptor) => throw new NotSupportedException();

    public IControlStream Connect(IPEndPoint remote, IControlStreamHandler handler) => throw new NotSupportedException();

    public INodeLog OpenLog(LogOptions options, ILogObserver observer) => throw new NotSupportedException();

    public void ListLogs(Action<LogListing> completed) => throw new NotSupportedException();

    public void DeleteLog(string name, Action<LogException?> completed) => throw new NotSupportedException();

    /// <summary>Lets time pass without anything else, as a slow step does.</summary>
    public void Pass(TimeSpan by) => Now += by;

    /// <summary>Executes what was put off until now, and nothing that this puts off.</summary>
    public void EndOneTurn()
    {
        for (int left = _deferred.Count; left > 0; left--)
        {
            _deferred.Dequeue().Execute();
        }
    }

    /// <summary>Executes what was posted and what was put off, and what follows from it, until nothing is left.</summary>
    public void EndTurn()
    {
        int left = MostRequests;
        while (_requests.TryDequeue() is { } request || _deferred.TryDequeue(out request))
        {
            Assert.True(left-- > 0, "Requests follow each other without end.");
            request.Execute();
        }
    }
}
