using QuickSilver.Core.Storage;
using QuickSilver.Core.Transport;
using QuickSilver.Simulation.Machines;
using QuickSilver.Simulation.Machines.Time;

namespace QuickSilver.Simulation.Disks;

// One operation of a disk: it takes effect when it is due, and its end is then handed to the core thread, which may be busy or paused.
internal sealed class DiskEvent(SimulatedEnvironment life, SimulatedLogFile file, LogOperation operation, ILogFileOwner owner)
    : NodeEvent(life)
{
    private long _value;
    private LogException? _failure;

    internal override CompletionKind Kind => CompletionKind.Disk;

    /// <summary>The process ended before it was due.</summary>
    public bool IsLost { get; set; }

    /// <summary>The process ends while this is under way: a random part of it is done.</summary>
    public void BreakOff(SeededRandom random)
    {
        switch (operation.Kind)
        {
            case LogOperationKind.Write:
                int bytes = random.Below(operation.Memory.Length + 1);
                file.Disk.Write(file.Stored, operation with { Memory = operation.Memory[..bytes] });
                break;
            case LogOperationKind.Truncate when random.Chance(0.5):
                file.Stored.Truncate(operation.Offset);
                break;
        }
    }

    internal override void Fire()
    {
        if (IsLost)
        {
            return;
        }

        file.Disk.End();
        if (file.Do(operation) is { } error)
        {
            string what = operation.Kind.ToString().ToLowerInvariant();
            _failure = LogException.Of(error, what, file.Name, $"simulated failure {error}");
        }

        _value = operation.Kind == LogOperationKind.Open ? file.Stored.Length : 0;
        base.Fire();
    }

    internal override void Execute()
    {
        Life.Trace(TraceKind.Disk, ((ulong)operation.Kind << 1) | (_failure is null ? 0UL : 1));
        owner.OnDone(_value, _failure);
    }
}
