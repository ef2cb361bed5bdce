using QuickSilver.Core.Storage;
using QuickSilver.Simulation.Machines;
using QuickSilver.Simulation.Machines.Time;

namespace QuickSilver.Simulation.Disks;

// A file as one life of a node has it open.
internal sealed class SimulatedLogFile(SimulatedDisk disk, ISimulatedLife life, LogOptions options, string path) : ILogFile
{
    private StoredFile? _stored;

    public string Name => options.Name;

    public SimulatedDisk Disk => disk;

    public long Length => _stored?.Length ?? 0;

    // Null: it is not open, or not any more: the disk was away since.
    private StoredFile? Stored => _stored is { } stored && stored.Holder == this ? stored : null;

    public void Begin(in LogOperation operation, ILogFileOwner owner)
    {
        if (life.IsAlive)
        {
            disk.Begin(new LogEvent(life, this, operation, owner), operation);
        }
    }

    /// <summary>Does an operation whole; why not, otherwise.</summary>
    public LogError? Do(in LogOperation operation)
    {
        switch (operation.Kind)
        {
            case LogOperationKind.Open:
                return Open();
            case LogOperationKind.Close:
                return Close(operation.Offset);
        }

        if (disk.Refusal(isChange: operation.Kind == LogOperationKind.Truncate) is { } refusal)
        {
            return refusal;
        }

        return Stored is not { } stored ? disk.Fail(LogError.Device) : operation.Kind switch
        {
            LogOperationKind.Write => Write(stored, operation),
            LogOperationKind.Read => disk.Read(stored, operation),
            _ => Truncate(stored, operation.Offset),
        };
    }

    /// <summary>The process ends while this is under way: a random part of it is done.</summary>
    public void BreakOff(in LogOperation operation, SeededRandom random)
    {
        switch (operation.Kind)
        {
            case LogOperationKind.Write when Stored is { } stored:
                int bytes = random.Below(operation.Memory.Length + 1);
                disk.Write(stored, operation with { Memory = operation.Memory[..bytes] });
                break;
            case LogOperationKind.Truncate when Stored is { } stored && random.Chance(0.5):
                stored.SetLength(operation.Offset);
                break;
        }
    }

    private LogError? Open()
    {
        if (disk.Refusal(isChange: true) is { } refusal)
        {
            return refusal;
        }

        var stored = disk.File(path);
        if (stored.Holder is not null)
        {
            return LogError.InUse;
        }

        stored.Holder = this;
        stored.Exists = true;
        _stored = stored;
        return disk.Sync(stored);
    }

    private LogError? Write(StoredFile stored, in LogOperation operation)
    {
        long before = stored.Length;
        var error = disk.Write(stored, operation);
        if (error is null && stored.Length > before)
        {
            disk.Preallocate(stored, Math.Min(options.PreallocatedBytes, options.MaxBytes - stored.Length));
        }

        return error ?? (operation.IsSynced ? disk.Sync(stored) : null);
    }

    private LogError? Truncate(StoredFile stored, long length)
    {
        stored.SetLength(length);
        return disk.Sync(stored);
    }

    private LogError? Close(long length)
    {
        if (Stored is { } stored)
        {
            if (length >= 0 && length < stored.Length && !disk.Model.IsReadOnly)
            {
                stored.SetLength(length);
            }

            stored.Holder = null;
        }

        return null;
    }
}
