using System.Collections.Immutable;
using QuickSilver.Membership.Views;

namespace QuickSilver.Multicast.Channels;

// The members of a pinned topic from a configuration on: the same at all of them, in the same order.
internal sealed record MemberView
{
    public required ulong TopicId { get; init; }

    // Of a later view it is higher.
    public required long Configuration { get; init; }

    // By age in the topic, the oldest first; of those who came together, the lowest key.
    public required ImmutableArray<NodeKey> Members { get; init; }

    // Against the view before it at this member, in the order of Members and of the members before. In the first, all have joined.
    public required ImmutableArray<NodeKey> Joined { get; init; }
    public required ImmutableArray<NodeKey> Left { get; init; }

    public override string ToString() => $"topic {TopicId:x} from configuration {Configuration} on ({Members.Length} members)";
}

// Holds the topic's publishers on this node. Core thread only.
internal interface IFlushBarrier
{
    /// <summary>Of the view that is decided.</summary>
    long Configuration { get; }

    /// <summary>Once; more calls do nothing.</summary>
    void Release();
}
