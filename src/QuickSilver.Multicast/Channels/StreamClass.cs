namespace QuickSilver.Multicast.Channels;

// The guarantee that all messages of one stream share. A node has one stream of each class that its channels use into each view of a
// region. Each packet contains its class in one byte.
internal readonly record struct StreamClass(byte Value)
{
    private const byte BestEffortBit = 1;

    /// <summary>Losses are repaired, and the members agree on what cannot be repaired.</summary>
    public static StreamClass Reliable => default;

    /// <summary>Losses are reported and not repaired.</summary>
    public static StreamClass BestEffort => new(BestEffortBit);

    /// <summary>All classes of which a node may have a stream into a view.</summary>
    public static ReadOnlySpan<StreamClass> All => Known;

    /// <summary>Whether this version knows the class. Packets of other classes are refused.</summary>
    public bool IsKnown => Value <= BestEffortBit;

    public bool IsReliable => (Value & BestEffortBit) == 0;

    private static StreamClass[] Known { get; } = [Reliable, BestEffort];

    public override string ToString() => IsReliable ? "reliable" : "best effort";
}
