using QuickSilver.Core.Storage;
using QuickSilver.Simulation.Machines;

namespace QuickSilver.Simulation.Disks;

// A file as one life of a node has it open.
internal sealed class SimulatedLogFile(SimulatedDisk disk, SimulatedEnvironment life, string name) : ILogFile
{
    private bool _hasLock;

    public string Name => name;

    public SimulatedDisk Disk => disk;

    public StoredFile Stored { get; } = disk.File(name);

    public void Begin(in LogOperation operation, ILogFileOwner owner)
    {
        if (life.IsAlive)
        {
            disk.Begin(new DiskEvent(life, this, operation, owner), operation);
        }
    }

    /// <summary>Does an operation whole; why not, otherwise.</summary>
    public LogError? Do(in LogOperation operation)
    {
        switch (operation.Kind)
        {
            case LogOperationKind.Open:
                if (Stored.IsLocked)
                {
                    return LogError.InUse;
                }

                _hasLock = Stored.IsLocked = true;
                return disk.Sync(Stored);
            case LogOperationKind.Write:
                return disk.Write(Stored, operation) ?? (operation.IsSynced ? disk.Sync(Stored) : null);
            case LogOperationKind.Read:
                return disk.Read(Stored, operation);
            case LogOperationKind.Truncate:
                Stored.Truncate(operation.Offset);
                return disk.Sync(Stored);
            default:
                Unlock();
                return null;
        }
    }

    private void Unlock()
    {
        if (_hasLock)
        {
            _hasLock = Stored.IsLocked = false;
        }
    }
}
