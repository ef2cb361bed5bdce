using System.Collections.Concurrent;
using QuickSilver.Core.Background;

namespace QuickSilver.Core.Storage.Machine;

// One thread of a disk, which does what is submitted in the order of asking. Each file has one operation at a time in each lane, so that
// the queue holds at most one entry for each open log, and nothing is allocated per operation.
//
// Liveness: the thread says that it sleeps, then looks at the queue once more, then sleeps. A submit queues first and wakes it if it said
// so.
internal sealed class DiskLane
{
    private readonly ConcurrentQueue<DiskWork> _submitted = new();
    private readonly SemaphoreSlim _wake = new(0);
    private readonly Action<DiskWork> _done;
    private readonly Action? _ended;
    private readonly Thread _thread;
    private int _isAsleep;
    private volatile bool _isStopping;

    /// <param name="threadName">The name of the thread.</param>
    /// <param name="done">Called on the thread with each work that was done.</param>
    /// <param name="ended">Called on the thread at its end.</param>
    public DiskLane(string threadName, Action<DiskWork> done, Action? ended = null)
    {
        _done = done;
        _ended = ended;
        _thread = new Thread(Run) { IsBackground = true, Name = threadName };
        Detached.Start(_thread);
    }

    /// <summary>On the core thread.</summary>
    public void Submit(DiskWork work)
    {
        _submitted.Enqueue(work);
        if (Interlocked.Exchange(ref _isAsleep, 0) == 1)
        {
            _wake.Release();
        }
    }

    /// <summary>Lets the thread end after what was submitted.</summary>
    public void Stop()
    {
        _isStopping = true;
        _wake.Release();
    }

    public void Join(TimeSpan limit) => _thread.Join(limit);

    private void Run()
    {
        while (true)
        {
            // Before the queue: what is submitted before the end is in it then.
            bool isStopping = _isStopping;
            while (_submitted.TryDequeue(out var work))
            {
                work.Perform();
                _done(work);
            }

            if (isStopping)
            {
                break;
            }

            Interlocked.Exchange(ref _isAsleep, 1);
            if (_submitted.IsEmpty && !_isStopping)
            {
                _wake.Wait();
            }

            Interlocked.Exchange(ref _isAsleep, 0);
        }

        _ended?.Invoke();
    }
}
