using QuickSilver.Multicast.Hybrid;

namespace QuickSilver.Multicast.Ordering;

// What few topics have at their sender. A topic that has none of it pays a reference.
internal sealed class OptionalParts
{
    public IOrderStamps? Stamps { get; init; }

    /// <summary>Null until the topic has an address of its own.</summary>
    public HybridSender? Hybrid { get; set; }

    public static OptionalParts? Of(IOrderStamps? stamps) => stamps is null ? null : new OptionalParts { Stamps = stamps };
}
