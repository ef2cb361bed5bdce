using QuickSilver.Core.Storage;
using QuickSilver.Simulation.Machines;

namespace QuickSilver.Simulation.Disks;

// The disk of one machine, which outlives the machine's lives. It does one operation after the other, each of which takes its time;
// its effect comes at the end of that, also while the node is paused. Chance is the disk's own stream.
//
// A crash of the process leaves what was written, and a random part of the write that was under way. A loss of power tears, besides,
// what was not synced (StoredFile).
internal sealed class SimulatedDisk(SimulatedMachines cluster, int machine)
{
    private readonly SortedList<string, StoredFile> _files = new(StringComparer.Ordinal);
    private readonly Queue<DiskEvent> _underWay = new();
    private readonly SeededRandom _random = SeededRandom.Derive(cluster.Options.Seed, purpose: 14, (ulong)(uint)machine);
    private TimeSpan _busyUntil;

    /// <summary>What it is like; may be changed while the simulation runs.</summary>
    public DiskModel Model { get; set; } = new();

    /// <summary>How many operations have failed because of the model.</summary>
    public long Failures { get; private set; }

    /// <summary>How many bytes losses of power have cut off.</summary>
    public long TornBytes { get; private set; }

    private long Used => _files.Values.Sum(static file => file.Length);

    public INodeLog Open(SimulatedEnvironment life, LogOptions options, ILogObserver observer)
    {
        cluster.Time.CheckThread();
        options.Check();
        if (life.StorageDirectory is not { } directory)
        {
            throw LogException.Of(LogError.NoDirectory, "open", options.Name, "the node has no storage directory");
        }

        return NodeLog.Open(new SimulatedLogFile(this, life, Path.Combine(directory, options.Name)), options, observer);
    }

    public StoredFile File(string path) => _files.TryGetValue(path, out var file) ? file : _files[path] = new StoredFile();

    /// <summary>The process has ended, or the whole machine.</summary>
    internal void Crash(bool powerLost)
    {
        if (_underWay.TryPeek(out var first))
        {
            first.BreakOff(_random);
        }

        while (_underWay.TryDequeue(out var lost))
        {
            lost.IsLost = true;
        }

        _busyUntil = cluster.Now;
        foreach (var file in _files.Values)
        {
            file.IsLocked = false;
            long before = file.Length;
            if (powerLost)
            {
                file.LosePower(_random, Model.LostSectors);
                TornBytes += Math.Max(0, before - file.Length);
            }
        }
    }

    /// <summary>Ends what faults did: errors, lost syncs and sectors, a full disk. How fast it is stays.</summary>
    internal void Heal() => Model = Model with
    {
        CapacityBytes = null,
        WriteErrors = 0,
        SyncErrors = 0,
        ReadErrors = 0,
        LosesSyncs = false,
        LostSectors = 0,
    };

    internal void Begin(DiskEvent operation, in LogOperation what)
    {
        var begins = _busyUntil > cluster.Now ? _busyUntil : cluster.Now;
        _busyUntil = begins + TimeOf(what);
        _underWay.Enqueue(operation);
        cluster.Time.At(_busyUntil, operation);
    }

    // Operations end in the order in which they began.
    internal void End() => _underWay.Dequeue();

    /// <summary>Writes, or a front part of it; why the rest is not written, otherwise.</summary>
    internal LogError? Write(StoredFile file, in LogOperation what)
    {
        var bytes = what.Memory.Span;
        LogError? error = null;
        if (Model.CapacityBytes is { } capacity && capacity - Used < bytes.Length)
        {
            bytes = bytes[..(int)Math.Max(0, capacity - Used)];
            error = Fail(LogError.NoSpace);
        }
        else if (bytes.Length > 0 && _random.Chance(Model.WriteErrors))
        {
            bytes = bytes[.._random.Below(bytes.Length)];
            error = Fail(LogError.Device);
        }

        file.Write(what.Offset, bytes);
        return error;
    }

    internal LogError? Sync(StoredFile file)
    {
        if (_random.Chance(Model.SyncErrors))
        {
            file.DropUnsynced();
            return Fail(LogError.Device);
        }

        if (!Model.LosesSyncs)
        {
            file.Sync();
        }

        return null;
    }

    internal LogError? Read(StoredFile file, in LogOperation what)
    {
        if (_random.Chance(Model.ReadErrors))
        {
            return Fail(LogError.Device);
        }

        file.Read(what.Offset, what.Memory.Span);
        return null;
    }

    private LogError Fail(LogError error)
    {
        Failures++;
        return error;
    }

    private TimeSpan TimeOf(in LogOperation what)
    {
        bool isSynced = what.IsSynced || what.Kind is LogOperationKind.Open or LogOperationKind.Truncate;
        var time = Model.AccessTime + _random.UpTo(Model.Jitter) + (isSynced ? Model.SyncTime : TimeSpan.Zero);
        return Model.BytesPerSecond is { } rate
            ? time + TimeSpan.FromTicks((long)((Int128)what.Memory.Length * TimeSpan.TicksPerSecond / rate))
            : time;
    }
}
