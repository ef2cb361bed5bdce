using QuickSilver.Membership.Views;

namespace QuickSilver.Multicast.Ordering.Credit;

/// <summary>A topic that this node sends at the rate of a slow reader.</summary>
/// <param name="TopicId">The topic.</param>
/// <param name="Member">The node of the reader.</param>
/// <param name="Through">The last number for which it has given credit.</param>
/// <param name="Since">Since when it has limited the topic, on the node's clock.</param>
/// <param name="Rate">The messages a second for which it has given credit lately.</param>
internal readonly record struct PacedTopic(ulong TopicId, NodeKey Member, long Through, TimeSpan Since, double Rate)
{
    /// <summary>The topic's name; null if it is not known here.</summary>
    public string? Name { get; init; }

    /// <summary>Since when, by the clock of the node's machine; only in <see cref="CreditLimits.Paced"/>.</summary>
    public DateTimeOffset SinceUtc { get; init; }
}
