using System.Globalization;
using Microsoft.Extensions.Logging;
using QuickSilver.Core.Alarms;
using QuickSilver.Core.Diagnostics;

namespace QuickSilver.Core.Environment;

// Notices that the thread pool of the process starts no work.
//
// Intuition: consumers, readers and what continues after an await run on the thread pool. Code that blocks its threads takes it from all of
// them: the runtime adds about a thread a second, and everything else waits. The node does not depend on the pool, but what it hands to the
// application does, and without a report of this the node seems to be slow. Application: once a second the core thread looks whether the
// work item that it queued at an earlier look has run, and then queues the next. It allocates nothing while the pool works. What goes
// wrong: a process that was stopped has not run the item either. So it is starved only after several looks, which the core thread of such a
// process has not made.
internal sealed class PoolWatch : IThreadPoolWorkItem
{
    public static readonly TimeSpan Interval = TimeSpan.FromSeconds(1);
    public const int LooksUntilStarved = 3;

    private readonly INodeEnvironment _environment;
    private readonly Func<(long Waiting, int Threads)> _read;
    private readonly ILogger _log;
    private readonly Alarm _look;
    private TimeSpan _queuedAt;
    private DateTimeOffset _since;
    private int _looks;
    private long _starvations;
    private Trouble? _trouble;
    private volatile bool _isQueued;

    /// <param name="environment">Whose core thread looks, and which queues work beside it.</param>
    /// <param name="read">How many work items wait in the pool, and how many threads it has.</param>
    /// <param name="log">Where the beginning and the end are logged.</param>
    public PoolWatch(INodeEnvironment environment, Func<(long Waiting, int Threads)> read, ILogger log)
    {
        _environment = environment;
        _read = read;
        _log = log;
        _look = new Alarm(Look);
    }

    /// <summary>The pool starts no work; null while it does. From any thread.</summary>
    public Trouble? Trouble => Volatile.Read(ref _trouble);

    /// <summary>How often that began. From any thread.</summary>
    public long Starvations => Volatile.Read(ref _starvations);

    /// <summary>Begins to look. Core thread only.</summary>
    public void Begin() => Look();

    void IThreadPoolWorkItem.Execute() => _isQueued = false;

    private void Look()
    {
        if (!_isQueued)
        {
            EndTrouble();
            _looks = 0;
            _queuedAt = _environment.Now;
            _since = _environment.UtcNow;
            _isQueued = true;
            _environment.RunBeside(this);
        }
        else if (++_looks >= LooksUntilStarved)
        {
            OnStarved();
        }

        _environment.Schedule(_look, Interval);
    }

    private void OnStarved()
    {
        var (waiting, threads) = _read();
        double seconds = (_environment.Now - _queuedAt).TotalSeconds;
        string what = string.Create(
            CultureInfo.InvariantCulture,
            $"The thread pool of the process has started no work for {seconds:0} s: {waiting:N0} work items wait for its {threads} "
            + $"threads.");
        Volatile.Write(ref _trouble, new Trouble(TroubleKind.ThreadPoolStarved, what, _since, "code of the application to return"));
        if (_looks == LooksUntilStarved)
        {
            Interlocked.Increment(ref _starvations);
            CoreLog.PoolStarved(_log, seconds, waiting, threads);
        }
    }

    private void EndTrouble()
    {
        if (_trouble is not null)
        {
            Volatile.Write(ref _trouble, null);
            CoreLog.PoolRecovered(_log, (_environment.Now - _queuedAt).TotalSeconds);
        }
    }
}
