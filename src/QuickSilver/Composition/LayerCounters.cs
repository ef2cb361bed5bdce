using QuickSilver.Core.Diagnostics;
using QuickSilver.Membership.Diagnostics;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Sending.Packing;

namespace QuickSilver.Composition;

// What the layers below a node count, in their own cells, which any thread may read at any time.
internal sealed class LayerCounters
{
    /// <summary>Those of a node whose protocols are not started, and of one without protocols.</summary>
    public static LayerCounters None { get; } = new();

    public CoreCounters Core { get; init; } = new();

    public ClientCounters Membership { get; init; } = new();

    public MulticastCounters Multicast { get; init; } = new();

    /// <summary>What was sent and is not known to be held by all members.</summary>
    public RetentionBudget Retention { get; init; } = new(limitBytes: 0);

    /// <summary>The size of a packet where no path asks for less.</summary>
    public int PacketBytes { get; init; }

    public long SmallestPathBytes => Multicast.SmallestPathBytes is > 0 and var least ? least : PacketBytes;
}
