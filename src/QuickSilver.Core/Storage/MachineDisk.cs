using System.Collections.Concurrent;
using System.Diagnostics.CodeAnalysis;
using QuickSilver.Core.Background;

namespace QuickSilver.Core.Storage;

// A node's disk: one thread that does what the files of its logs ask for, in the order of asking. Each file has one operation at a
// time, so the queues hold at most one entry for each open log, and nothing is allocated per operation.
//
// Liveness:
// - The thread says that it sleeps, then looks at the queue once more, then sleeps. A submit queues first and wakes it if it said so.
// - Ends are announced once: the core thread then takes them one by one until TryTake finds none, which ends the announcement. An
//   end that is queued after that is announced again.
internal sealed class MachineDisk
{
    private readonly ConcurrentQueue<MachineLogFile> _submitted = new();
    private readonly ConcurrentQueue<MachineLogFile> _done = new();
    // Files with a handle; the disk thread's alone.
    private readonly List<MachineLogFile> _open = [];
    private readonly SemaphoreSlim _wake = new(0);
    private readonly StorageDirectory _directory;
    private readonly Action _announce;
    private readonly Thread _thread;
    private int _isAsleep;
    private int _isAnnounced;
    private volatile bool _isStopping;

    /// <param name="directory">Where the files lie. It is given back when the thread ends, once all files are closed.</param>
    /// <param name="threadName">The name of the disk thread.</param>
    /// <param name="announce">Called on the disk thread when ends wait to be taken.</param>
    public MachineDisk(StorageDirectory directory, string threadName, Action announce)
    {
        _directory = directory;
        _announce = announce;
        _thread = new Thread(Run) { IsBackground = true, Name = threadName };
        Detached.Start(_thread);
    }

    public string Directory => _directory.FullPath;

    /// <summary>On the core thread.</summary>
    public void Submit(MachineLogFile file)
    {
        _submitted.Enqueue(file);
        if (Interlocked.Exchange(ref _isAsleep, 0) == 1)
        {
            _wake.Release();
        }
    }

    /// <summary>On the core thread: a file whose operation has ended. False: there is none, and the next is announced.</summary>
    public bool TryTake([NotNullWhen(true)] out MachineLogFile? file)
    {
        if (_done.TryDequeue(out file))
        {
            return true;
        }

        Interlocked.Exchange(ref _isAnnounced, 0);
        return !_done.IsEmpty && Interlocked.Exchange(ref _isAnnounced, 1) == 0 && _done.TryDequeue(out file);
    }

    /// <summary>
    /// Ends the thread after what was submitted, and closes all files. Waits for that, but no longer than the limit: a disk may hang.
    /// </summary>
    public void Stop(TimeSpan limit)
    {
        _isStopping = true;
        _wake.Release();
        _thread.Join(limit);
    }

    internal void Remember(MachineLogFile file) => _open.Add(file);

    internal void Forget(MachineLogFile file) => _open.Remove(file);

    private void Run()
    {
        while (true)
        {
            while (_submitted.TryDequeue(out var file))
            {
                file.Perform();
                _done.Enqueue(file);
                if (Interlocked.Exchange(ref _isAnnounced, 1) == 0)
                {
                    _announce();
                }
            }

            if (_isStopping)
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

        while (_open.Count > 0)
        {
            _open[^1].Close();
        }

        _directory.Dispose();
    }
}
