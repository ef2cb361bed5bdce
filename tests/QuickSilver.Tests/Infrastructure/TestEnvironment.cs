using System.Net;
using QuickSilver.Core.Alarms;
using QuickSilver.Core.Buffers;
using QuickSilver.Core.Environment;
using QuickSilver.Core.Requests;
using QuickSilver.Core.Storage;
using QuickSilver.Core.Transport;

namespace QuickSilver.Tests.Infrastructure;

// A core thread for tests: requests run when the test pumps (manual), or on a thread of its own. Time stands still unless
// it is advanced; there is no network and no disk.
internal sealed class TestEnvironment : INodeEnvironment, IDisposable
{
    private readonly RequestQueue _queue = new();
    private readonly AutoResetEvent _wake = new(false);
    private readonly List<Alarm> _alarms = [];
    private readonly Thread? _thread;
    private volatile bool _isStopping;
    private int _posts;

    public TestEnvironment(bool threaded)
    {
        if (threaded)
        {
            _thread = new Thread(RunThread) { IsBackground = true, Name = "test core" };
            _thread.Start();
        }
    }

    /// <summary>How often any thread posted: each is a wake of the core thread at worst.</summary>
    public int Posts => Volatile.Read(ref _posts);

    public bool IsThreaded => _thread is not null;

    /// <summary>Work that is not begun, as in a thread pool that is full; null: it runs in the pool.</summary>
    public List<IThreadPoolWorkItem>? HeldWork { get; set; }

    public TimeSpan Now { get; private set; }

    public DateTimeOffset UtcNow => DateTimeOffset.UnixEpoch + Now;

    public NodeHeap Heap { get; set; } = NodeHeap.OfProcess;

    public SlabPool Buffers { get; } = new(SlabPool.BlockBytes);

    public PauseObservers Pauses { get; } = new();

    public IPAddress LocalAddress => IPAddress.Loopback;

    public ulong NextRandom() => 4;

    public void Schedule(Alarm alarm, TimeSpan delay)
    {
        Cancel(alarm);
        alarm.Due = Now + delay;
        alarm.Queue = this;
        _alarms.Add(alarm);
    }

    public void Cancel(Alarm alarm)
    {
        if (_alarms.Remove(alarm))
        {
            alarm.Queue = null;
        }
    }

    public void Post(Request request)
    {
        Interlocked.Increment(ref _posts);
        _queue.Enqueue(request);
        _wake.Set();
    }

    public void RunBeside(IThreadPoolWorkItem work)
    {
        if (HeldWork is { } held)
        {
            held.Add(work);
        }
        else
        {
            ThreadPool.UnsafeQueueUserWorkItem(work, preferLocal: false);
        }
    }

    public void Defer(WorkClass workClass, Request request) => Post(request);

    public IDatagramPort OpenPort(DatagramPortOptions options, IDatagramReceiver receiver) =>
        throw new TransportException("There is no network here.");

    public IControlListener Listen(IPEndPoint local, IControlAcceptor acceptor) =>
        throw new TransportException("There is no network here.");

    public IControlStream Connect(IPEndPoint remote, IControlStreamHandler handler) =>
        throw new TransportException("There is no network here.");

    public INodeLog OpenLog(LogOptions options, ILogObserver observer) =>
        throw LogException.Of(LogError.NoDirectory, "open", options.Name, "there is no disk here");

    public void ListLogs(Action<LogListing> completed) =>
        throw LogException.Of(LogError.NoDirectory, "open", "log", "there is no disk here");

    public void DeleteLog(string name, Action<LogException?> completed) =>
        throw LogException.Of(LogError.NoDirectory, "open", "log", "there is no disk here");

    /// <summary>Manual: runs what was posted, and what that posts, until nothing is left. Returns how many ran.</summary>
    public int Pump()
    {
        int count = 0;
        while (_queue.TryDequeue() is { } request)
        {
            request.Execute();
            count++;
        }

        return count;
    }

    /// <summary>Does this on the core thread and waits for it.</summary>
    public async Task<TResult> RunAsync<TResult>(Func<TResult> function)
    {
        var done = new TaskCompletionSource<TResult>(TaskCreationOptions.RunContinuationsAsynchronously);
        Post(new ActionRequest(() =>
        {
            try
            {
                done.SetResult(function());
            }
            catch (Exception exception)
            {
                done.SetException(exception);
            }
        }));
        if (!IsThreaded)
        {
            Pump();
        }

        return await done.Task;
    }

    public Task RunAsync(Action action) => RunAsync(() =>
    {
        action();
        return 0;
    });

    /// <summary>On the core thread: lets time pass and fires what is due.</summary>
    public void Advance(TimeSpan by)
    {
        Now += by;
        foreach (var alarm in _alarms.Where(alarm => alarm.Due <= Now).OrderBy(alarm => alarm.Due).ToArray())
        {
            if (_alarms.Remove(alarm))
            {
                alarm.Queue = null;
                alarm.Fire();
            }
        }
    }

    public void Stop()
    {
        _isStopping = true;
        _wake.Set();
    }

    public void Dispose()
    {
        Stop();
        _thread?.Join(TimeSpan.FromSeconds(10));
        _wake.Dispose();
    }

    private void RunThread()
    {
        while (!_isStopping)
        {
            _queue.EndSleep();
            Pump();
            if (_queue.TryBeginSleep())
            {
                _wake.WaitOne();
            }
        }
    }
}
