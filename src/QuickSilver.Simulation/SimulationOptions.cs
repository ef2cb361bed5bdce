namespace QuickSilver.Simulation;

internal sealed record SimulationOptions
{
    public ulong Seed { get; init; } = 1;

    /// <summary>What every wall clock shows when virtual time begins.</summary>
    public DateTimeOffset Epoch { get; init; } = new(2026, 1, 1, 0, 0, 0, TimeSpan.Zero);

    /// <summary>How each link behaves that is not told otherwise; also what faults are healed back to.</summary>
    public LinkModel Link { get; init; } = new();

    /// <summary>The bound of each node's pool of packet memory.</summary>
    public long PoolBytes { get; init; } = 64 << 20;

    /// <summary>Remembers where each block was rented: slow, and names who leaks.</summary>
    public bool TrackLeases { get; init; }

    /// <summary>Keeps the whole trace, to find where two runs part; costs memory with every event.</summary>
    public bool RecordTrace { get; init; }
}
