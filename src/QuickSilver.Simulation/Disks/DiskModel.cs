namespace QuickSilver.Simulation.Disks;

// What a machine's disk is like, and what is wrong with it. Immutable: change it with "with" and set it. Probabilities are from 0 to 1
// and times not negative. Without a change nothing is wrong, and a loss of power tears what was not synced at a random byte.
internal sealed record DiskModel
{
    // The length that a disk writes whole or not at all.
    public const int SectorBytes = 512;

    /// <summary>How long each operation takes. Default 20 µs: a copy to or from the system's cache.</summary>
    public TimeSpan AccessTime { get; init => field = NotNegative(value); } = TimeSpan.FromMicroseconds(20);

    /// <summary>How much longer a sync takes, an opening and a truncation among them. Default 500 µs.</summary>
    public TimeSpan SyncTime { get; init => field = NotNegative(value); } = TimeSpan.FromMicroseconds(500);

    /// <summary>Up to this much more, drawn for each operation. Default 0.</summary>
    public TimeSpan Jitter { get; init => field = NotNegative(value); }

    /// <summary>How much longer each operation takes while a fault lasts. Default 0.</summary>
    public TimeSpan Delay { get; init => field = NotNegative(value); }

    /// <summary>Reads and writes. Above 0; null (default): as fast as one likes.</summary>
    public long? BytesPerSecond
    {
        get;
        init => field = value is null or > 0 ? value : throw new ArgumentOutOfRangeException(nameof(value), value, "Must be above 0.");
    }

    /// <summary>What all files of the machine may hold; a write beyond is done in part and fails. Null (default): no limit.</summary>
    public long? CapacityBytes
    {
        get;
        init => field = value is null or >= 0
            ? value
            : throw new ArgumentOutOfRangeException(nameof(value), value, "The size must not be negative.");
    }

    /// <summary>How often a write fails, after a random part of it. Default 0.</summary>
    public double WriteErrors { get; init => field = LinkModel.Probability(value); }

    /// <summary>
    /// How often a sync fails. What it was to make durable can be read until the power is lost, and is zeros then: later syncs do not
    /// write it again. Default 0.
    /// </summary>
    public double SyncErrors { get; init => field = LinkModel.Probability(value); }

    /// <summary>How often a read fails. Default 0.</summary>
    public double ReadErrors { get; init => field = LinkModel.Probability(value); }

    /// <summary>
    /// The file system can be read and not be written. A sync of what was written before fails as one of <see cref="SyncErrors"/> does.
    /// Logs that are open can be read, and none can be opened. Default false.
    /// </summary>
    public bool IsReadOnly { get; init; }

    /// <summary>
    /// The disk is gone: each operation fails. What was not synced when it went is torn as by a loss of power, and the logs that were open
    /// then never work again. Default false.
    /// </summary>
    public bool IsAway { get; init; }

    /// <summary>Syncs are reported as done, and are not: a loss of power takes all since the last true one. Default false.</summary>
    public bool LosesSyncs { get; init; }

    /// <summary>
    /// At a loss of power: how many sectors of what was not synced, and is not cut off, are zeros, whatever comes after them. Default 0.
    /// </summary>
    public double LostSectors { get; init => field = LinkModel.Probability(value); }

    private static TimeSpan NotNegative(TimeSpan value) =>
        value >= TimeSpan.Zero ? value : throw new ArgumentOutOfRangeException(nameof(value), value, "The time must not be negative.");
}
