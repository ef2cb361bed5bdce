using System.Collections.Concurrent;
using System.Diagnostics.CodeAnalysis;

namespace QuickSilver.Core.Storage.Machine;

// A node's disk: two threads, one for changes and one for reads, so that a read does not wait for a flush. That for reads begins with the
// first.
//
// Liveness: ends are announced once. The core thread then takes them one by one until TryTake finds none, which ends the announcement. An
// end that is queued after that is announced again.
internal sealed class MachineDisk
{
    private readonly ConcurrentQueue<DiskWork> _done = new();
    // Files with a handle. Only the thread for changes uses it.
    private readonly List<MachineLogFile> _open = [];
    private readonly StorageDirectory _directory;
    private readonly string _threadName;
    private readonly Action _announce;
    private readonly DiskLane _changes;
    private DiskLane? _reads;
    private int _isAnnounced;

    /// <param name="directory">Where the files lie. It is given back when the threads end, once all files are closed.</param>
    /// <param name="threadName">The name of the thread for changes.</param>
    /// <param name="announce">Called on a disk thread when ends wait to be taken.</param>
    public MachineDisk(StorageDirectory directory, string threadName, Action announce)
    {
        _directory = directory;
        _threadName = threadName;
        _announce = announce;
        _changes = new DiskLane(threadName, OnDone, CloseAll);
    }

    public string Directory => _directory.FullPath;

    /// <summary>On the core thread: it is done after all changes that were submitted before.</summary>
    public void Submit(DiskWork change) => _changes.Submit(change);

    /// <summary>On the core thread: it is done after all reads that were submitted before, beside changes.</summary>
    public void SubmitRead(DiskWork read) => (_reads ??= new DiskLane(_threadName + " reads", OnDone)).Submit(read);

    /// <summary>On the core thread: work that has ended. False: there is none, and the next is announced.</summary>
    public bool TryTake([NotNullWhen(true)] out DiskWork? work)
    {
        if (_done.TryDequeue(out work))
        {
            return true;
        }

        Interlocked.Exchange(ref _isAnnounced, 0);
        return !_done.IsEmpty && Interlocked.Exchange(ref _isAnnounced, 1) == 0 && _done.TryDequeue(out work);
    }

    /// <summary>
    /// Ends the threads after what was submitted, and closes all files. Waits for that, but no longer than the limit: a disk may hang. A
    /// read that is under way then holds its file open until it ends.
    /// </summary>
    public void Stop(TimeSpan limit)
    {
        _reads?.Stop();
        _reads?.Join(limit);
        _changes.Stop();
        _changes.Join(limit);
    }

    internal void Remember(MachineLogFile file) => _open.Add(file);

    internal void Forget(MachineLogFile file) => _open.Remove(file);

    private void OnDone(DiskWork work)
    {
        _done.Enqueue(work);
        if (Interlocked.Exchange(ref _isAnnounced, 1) == 0)
        {
            _announce();
        }
    }

    private void CloseAll()
    {
        while (_open.Count > 0)
        {
            _open[^1].Close();
        }

        _directory.Dispose();
    }
}
