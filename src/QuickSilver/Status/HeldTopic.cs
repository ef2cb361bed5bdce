using System.Globalization;

namespace QuickSilver;

/// <summary>A topic that a node publishes at the rate of a slow reader.</summary>
/// <param name="Topic">The name of the topic.</param>
/// <param name="Reader">The node of the reader; the slowest if several readers are slow.</param>
/// <param name="ReaderName">The name of that node; empty if it is unknown, or if the node is of a version without names.</param>
/// <param name="MessagesPerSecond">The messages of this node that the reader takes in a second, over the last 2 to 4 s.</param>
/// <param name="Since">Since when it has held the topic, by the clock of the node's machine.</param>
public sealed record HeldTopic(string Topic, NodeId Reader, string ReaderName, double MessagesPerSecond, DateTimeOffset Since)
{
    /// <summary>The topic, its rate and the node of the reader, in words.</summary>
    public override string ToString() => string.Create(
        CultureInfo.InvariantCulture,
        $"The publisher of topic \"{Topic}\" is held to {MessagesPerSecond:0.#} messages a second by a reader on node "
            + $"{(ReaderName.Length > 0 ? $"{ReaderName} ({Reader})" : $"{Reader}")}.");
}
