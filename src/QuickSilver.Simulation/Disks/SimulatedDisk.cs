using QuickSilver.Core.Storage;
using QuickSilver.Simulation.Machines;
using QuickSilver.Simulation.Machines.Time;

namespace QuickSilver.Simulation.Disks;

// The disk of one machine, which outlives the machine's lives. It does one change after the other, and beside them one read after the
// other, each of which takes its time. Its effect comes at the end of that, also while the node is paused. Chance is the disk's own stream.
//
// A crash of the process leaves what was written, and a random part of the write that was under way. A loss of power tears, besides,
// what was not synced (StoredFile).
internal sealed class SimulatedDisk(SimulatedMachines cluster, int machine)
{
    // Takes the time of a sync.
    private static readonly LogOperation Deletion = new(LogOperationKind.Truncate);

    private readonly SortedList<string, StoredFile> _files = new(StringComparer.Ordinal);
    private readonly Lane _changes = new();
    private readonly Lane _reads = new();
    private readonly SeededRandom _random = SeededRandom.Derive(cluster.Options.Seed, purpose: 14, (ulong)(uint)machine);

    /// <summary>What it is like; may be changed while the simulation runs.</summary>
    public DiskModel Model
    {
        get;
        set
        {
            bool goes = value.IsAway && !field.IsAway;
            field = value;
            if (goes)
            {
                Detach();
            }
        }
    } = new();

    /// <summary>How many operations have failed because of the model.</summary>
    public long Failures { get; private set; }

    /// <summary>How many bytes losses of power have cut off.</summary>
    public long TornBytes { get; private set; }

    /// <summary>How many bits have changed by themselves.</summary>
    public long RottenBits { get; private set; }

    /// <summary>The length of all files.</summary>
    public long UsedBytes => _files.Values.Sum(static file => file.Length);

    public INodeLog Open(ISimulatedLife life, LogOptions options, ILogObserver observer)
    {
        options.Check();
        string path = PathOf(life, "open", options.Name);
        return NodeLog.Open(new SimulatedLogFile(this, life, options, path), options, observer);
    }

    public void List(ISimulatedLife life, Action<LogListing> completed)
    {
        string directory = PathOf(life, "list", "");
        if (life.IsAlive)
        {
            Begin(new DirectoryEvent<LogListing>(life, this, () => ListNow(directory), completed, isDeletion: false), default);
        }
    }

    public void Delete(ISimulatedLife life, string log, Action<LogException?> completed)
    {
        LogOptions.CheckName(log);
        string path = PathOf(life, "delete", log);
        if (life.IsAlive)
        {
            Begin(new DirectoryEvent<LogException?>(life, this, () => DeleteNow(path, log), completed, isDeletion: true), Deletion);
        }
    }

    public StoredFile File(string path) => _files.TryGetValue(path, out var file) ? file : _files[path] = new StoredFile();

    /// <summary>The process has ended, or the whole machine.</summary>
    internal void Crash(bool powerLost)
    {
        if (_changes.UnderWay.TryPeek(out var first))
        {
            first.BreakOff(_random);
        }

        _changes.Clear(cluster.Now);
        _reads.Clear(cluster.Now);
        foreach (var file in _files.Values)
        {
            file.Holder = null;
            if (powerLost)
            {
                LosePower(file);
            }
        }
    }

    /// <summary>So many bits of what is stored change, each in a file of chance.</summary>
    public void Rot(int bits)
    {
        var files = _files.Values.Where(static file => file.Length > 0).ToArray();
        for (int i = 0; i < bits && files.Length > 0; i++)
        {
            RottenBits += files[_random.Below(files.Length)].Rot(_random) ? 1 : 0;
        }
    }

    /// <summary>Ends what faults did, except for bits that rotted. How fast it is stays.</summary>
    internal void Heal() => Model = Model with
    {
        Delay = TimeSpan.Zero,
        IsReadOnly = false,
        IsAway = false,
        CapacityBytes = null,
        WriteErrors = 0,
        SyncErrors = 0,
        ReadErrors = 0,
        LosesSyncs = false,
        LostSectors = 0,
    };

    internal void Begin(DiskEvent operation, in LogOperation what)
    {
        cluster.Time.CheckThread();
        var lane = LaneOf(operation);
        var begins = lane.BusyUntil > cluster.Now ? lane.BusyUntil : cluster.Now;
        lane.BusyUntil = begins + TimeOf(what);
        lane.UnderWay.Enqueue(operation);
        cluster.Time.At(lane.BusyUntil, operation);
    }

    // Operations of a lane end in the order in which they began.
    internal void End(DiskEvent operation) => LaneOf(operation).UnderWay.Dequeue();

    /// <summary>Writes, or a front part of it; why the rest is not written, otherwise.</summary>
    internal LogError? Write(StoredFile file, in LogOperation what)
    {
        var bytes = what.Memory.Span;
        LogError? error = null;
        if (Model.IsReadOnly && bytes.Length > 0)
        {
            return Fail(LogError.ReadOnly);
        }

        // What is written over takes no room.
        long room = Model.CapacityBytes is { } capacity ? Math.Max(0, file.Length - what.Offset + capacity - UsedBytes) : bytes.Length;
        if (room < bytes.Length)
        {
            bytes = bytes[..(int)room];
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

    /// <summary>Makes a file longer in advance, as far as there is room.</summary>
    internal void Preallocate(StoredFile file, long bytes)
    {
        long room = Model.CapacityBytes is { } capacity ? Math.Min(bytes, capacity - UsedBytes) : bytes;
        if (room > 0)
        {
            file.SetLength(file.Length + room);
        }
    }

    internal LogError? Sync(StoredFile file)
    {
        if (_random.Chance(Model.SyncErrors) || (Model.IsReadOnly && file.HasChanges))
        {
            file.DropUnsynced();
            return Fail(Model.IsReadOnly ? LogError.ReadOnly : LogError.Device);
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

    /// <summary>Why nothing can be done at all, or nothing that changes the directory; null: it can.</summary>
    internal LogError? Refusal(bool isChange) => Model.IsAway ? Fail(LogError.Device)
        : isChange && Model.IsReadOnly ? Fail(LogError.ReadOnly)
        : null;

    internal LogError Fail(LogError error)
    {
        Failures++;
        return error;
    }

    private TimeSpan TimeOf(in LogOperation what)
    {
        bool isSynced = what.IsSynced || what.Kind is LogOperationKind.Open or LogOperationKind.Truncate;
        var time = Model.AccessTime + Model.Delay + _random.UpTo(Model.Jitter) + (isSynced ? Model.SyncTime : TimeSpan.Zero);
        return Model.BytesPerSecond is { } rate
            ? time + TimeSpan.FromTicks((long)((Int128)what.Memory.Length * TimeSpan.TicksPerSecond / rate))
            : time;
    }

    private static string PathOf(ISimulatedLife life, string action, string log) => life.StorageDirectory is { } directory
        ? $"{directory}/{log}"
        : throw LogException.Of(LogError.NoDirectory, action, log, "the node has no storage directory");

    internal static LogException Failure(LogError error, string action, string log) =>
        LogException.Of(error, action, log, $"simulated failure {error}");

    private Lane LaneOf(DiskEvent operation) => operation.IsRead ? _reads : _changes;

    private LogListing ListNow(string directory)
    {
        if (Refusal(isChange: false) is { } error)
        {
            return new LogListing([], Failure(error, "list", directory));
        }

        return new LogListing(
            [
                .. _files.Where(file => file.Value.Exists && file.Key[..(file.Key.LastIndexOf('/') + 1)] == directory)
                    .Select(file => new LogEntry(file.Key[directory.Length..], file.Value.Length)),
            ],
            null);
    }

    private LogException? DeleteNow(string path, string log)
    {
        if (Refusal(isChange: true) is { } error)
        {
            return Failure(error, "delete", log);
        }

        if (_files.TryGetValue(path, out var file) && file.Holder is not null)
        {
            return LogException.Of(LogError.InUse, "delete", log, "the log is open");
        }

        _files.Remove(path);
        return null;
    }

    // The disk is pulled out of the running machine.
    private void Detach()
    {
        foreach (var file in _files.Values)
        {
            file.Holder = null;
            LosePower(file);
        }
    }

    private void LosePower(StoredFile file)
    {
        long before = file.Length;
        file.LosePower(_random, Model.LostSectors);
        TornBytes += Math.Max(0, before - file.Length);
    }

    // What is done one after the other.
    private sealed class Lane
    {
        public Queue<DiskEvent> UnderWay { get; } = new();

        public TimeSpan BusyUntil { get; set; }

        public void Clear(TimeSpan now)
        {
            while (UnderWay.TryDequeue(out var lost))
            {
                lost.IsLost = true;
            }

            BusyUntil = now;
        }
    }
}
