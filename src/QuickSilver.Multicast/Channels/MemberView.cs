using System.Collections.Immutable;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Membership.Views;

namespace QuickSilver.Multicast.Channels;

// The members of a pinned topic from a configuration on. All members see the same list, in the same order.
internal sealed record MemberView
{
    public required ulong TopicId { get; init; }

    // Increases with each view.
    public required long Configuration { get; init; }

    // Ordered by the time since which they are in the topic, the oldest first; members that joined together are ordered by key.
    public required ImmutableArray<NodeKey> Members { get; init; }

    // The differences from the previous view at this member, in the order of Members and of the previous members. In the first view all
    // have joined. A member that left and came back in between is in both, because it begins again.
    public required ImmutableArray<NodeKey> Joined { get; init; }
    public required ImmutableArray<NodeKey> Left { get; init; }

    public override string ToString() =>
        $"topic {TopicId:x} from configuration {Configuration} on ({Counted.Of(Members.Length, "member")})";
}

// Holds the topic's publishers on this node until it is released. Core thread only.
internal interface IFlushBarrier
{
    /// <summary>The configuration of the view that is decided.</summary>
    long Configuration { get; }

    /// <summary>Releases the barrier. Further calls have no effect.</summary>
    void Release();
}
