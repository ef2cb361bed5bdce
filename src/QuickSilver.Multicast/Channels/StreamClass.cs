namespace QuickSilver.Multicast.Channels;

// What all messages of one stream have in common. A node has one stream of each class that its channels use into each view of a region,
// and every packet names its class: one byte.
internal readonly record struct StreamClass(byte Value)
{
    private const byte BestEffortBit = 1;

    /// <summary>Losses are repaired, and the members agree on what cannot be had.</summary>
    public static StreamClass Reliable => default;

    /// <summary>Losses are told and not repaired.</summary>
    public static StreamClass BestEffort => new(BestEffortBit);

    /// <summary>Those that a node may have into a view.</summary>
    public static ReadOnlySpan<StreamClass> All => Known;

    /// <summary>Whether this version knows it: packets of others are refused.</summary>
    public bool IsKnown => Value <= BestEffortBit;

    public bool IsReliable => (Value & BestEffortBit) == 0;

    private static StreamClass[] Known { get; } = [Reliable, BestEffort];

    public override string ToString() => IsReliable ? "reliable" : "best effort";
}
