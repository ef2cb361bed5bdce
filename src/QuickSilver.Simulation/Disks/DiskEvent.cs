using QuickSilver.Core.Storage;
using QuickSilver.Core.Transport;
using QuickSilver.Simulation.Machines;
using QuickSilver.Simulation.Machines.Time;

namespace QuickSilver.Simulation.Disks;

// One operation of a disk: it takes effect when it is due, and its end is then handed to the core thread, which may be busy or paused.
internal abstract class DiskEvent(ISimulatedLife life, SimulatedDisk disk) : NodeEvent(life)
{
    internal override CompletionKind Kind => CompletionKind.Disk;

    /// <summary>Whether it is done beside changes.</summary>
    public virtual bool IsRead => false;

    /// <summary>The process ended before it was due.</summary>
    public bool IsLost { get; set; }

    /// <summary>The process ends while this is under way: a random part of it is done.</summary>
    public abstract void BreakOff(SeededRandom random);

    internal override void Fire()
    {
        if (!IsLost)
        {
            disk.End(this);
            Act();
            base.Fire();
        }
    }

    protected abstract void Act();
}

internal sealed class LogEvent(ISimulatedLife life, SimulatedLogFile file, LogOperation operation, ILogFileOwner owner)
    : DiskEvent(life, file.Disk)
{
    private long _value;
    private LogException? _failure;

    public override bool IsRead => operation.Kind == LogOperationKind.Read;

    public override void BreakOff(SeededRandom random) => file.BreakOff(operation, random);

    protected override void Act()
    {
        if (file.Do(operation) is { } error)
        {
            string what = operation.Kind.ToString().ToLowerInvariant();
            _failure = SimulatedDisk.Failure(error, what, file.Name);
        }

        _value = operation.Kind == LogOperationKind.Open ? file.Length : 0;
    }

    internal override void Execute()
    {
        Life.Trace(TraceKind.Disk, ((ulong)operation.Kind << 1) | (_failure is null ? 0UL : 1));
        owner.OnDone(operation.Kind, _value, _failure);
    }
}

// What concerns the directory: a listing or a deletion.
internal sealed class DirectoryEvent<T>(
    ISimulatedLife life, SimulatedDisk disk, Func<T> act, Action<T> completed, bool isDeletion)
    : DiskEvent(life, disk)
{
    private const ulong ListingCode = 32;
    private const ulong DeletionCode = 33;

    private T _outcome = default!;

    public override void BreakOff(SeededRandom random)
    {
        if (isDeletion && random.Chance(0.5))
        {
            act();
        }
    }

    protected override void Act() => _outcome = act();

    internal override void Execute()
    {
        Life.Trace(TraceKind.Disk, isDeletion ? DeletionCode : ListingCode);
        completed(_outcome);
    }
}
