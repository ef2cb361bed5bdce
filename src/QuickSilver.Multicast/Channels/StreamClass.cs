using QuickSilver.Membership.Views;

namespace QuickSilver.Multicast.Channels;

// The guarantee that all messages of one stream share, and a number that keeps channels of one guarantee apart. A node has one stream of
// each class that its channels use into each view of a region. Each packet contains its class in one byte: bit 0 is best effort, the two
// bits above it are the number.
internal readonly record struct StreamClass(byte Value)
{
    /// <summary>Reliable streams into a view have numbers below this one.</summary>
    public const int Numbers = 4;

    private const byte BestEffortBit = 1;

    /// <summary>Losses are repaired, and the members agree on what cannot be repaired.</summary>
    public static StreamClass Reliable => default;

    /// <summary>Losses are reported and not repaired.</summary>
    public static StreamClass BestEffort => new(BestEffortBit);

    /// <summary>All classes of which a node may have a stream into a view.</summary>
    public static ReadOnlySpan<StreamClass> All => Known;

    /// <summary>Whether this version knows the class. Packets of other classes are refused.</summary>
    public bool IsKnown => IsReliable ? Value < Numbers << 1 : Value == BestEffortBit;

    public bool IsReliable => (Value & BestEffortBit) == 0;

    /// <summary>The number of the class among those of its guarantee.</summary>
    public int Number => Value >> 1;

    private static StreamClass[] Known { get; } = [Reliable, BestEffort, .. Enumerable.Range(1, Numbers - 1).Select(ReliableOf)];

    /// <summary>
    /// The reliable class of this number, from 0. Each has a window, repairs and decisions about losses of its own, so its messages wait
    /// for no packet of another.
    /// </summary>
    public static StreamClass ReliableOf(int number) => new((byte)(number << 1));

    public override string ToString() => !IsReliable ? "best effort" : Value == 0 ? "reliable" : $"reliable {Number}";
}

// Names one stream into a view.
internal readonly record struct StreamKey(NodeKey Sender, StreamClass Class);
