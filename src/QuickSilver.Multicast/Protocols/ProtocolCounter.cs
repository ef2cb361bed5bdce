namespace QuickSilver.Multicast.Protocols;

// One figure of a protocol, for the meter.
internal sealed record ProtocolCounter
{
    /// <summary>The name of the instrument, such as "quicksilver.groups.flushes".</summary>
    public required string Name { get; init; }

    /// <summary>The unit, such as "{flush}" or "By".</summary>
    public required string Unit { get; init; }

    /// <summary>What is counted, as a sentence.</summary>
    public required string Description { get; init; }

    /// <summary>Whether the figure can fall. Otherwise it only rises.</summary>
    public bool IsLevel { get; init; }

    /// <summary>Reads the figure. Called from any thread.</summary>
    public required Func<long> Read { get; init; }
}
