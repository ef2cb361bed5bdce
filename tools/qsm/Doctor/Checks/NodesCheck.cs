using System.Globalization;
using System.Net;
using QuickSilver.Core.Diagnostics;

namespace QuickSilver.Tool.Doctor.Checks;

// A node of the cluster. Trouble: what it reports of itself; null: nothing.
internal sealed record ClusterNode(string Name, IPEndPoint EndPoint, double? SilentSeconds, string? Trouble)
{
    // Topics that it publishes at the rate of a slow reader: the rate, and the node of the reader.
    public IReadOnlyList<(string Topic, string Rate)> Held { get; init; } = [];
}

// What the nodes of the running cluster say themselves, such as whom multicast does not reach.
internal static class NodesCheck
{
    public const string Name = "nodes";

    public static IEnumerable<Finding> Of(IReadOnlyList<ClusterNode>? nodes)
    {
        if (nodes is null)
        {
            return [Finding.NotChecked(Name, "No service answered that could name them.")];
        }

        Finding[] troubled = [.. nodes.Select(Of).OfType<Finding>()];
        return
        [
            .. troubled.Length > 0 ? troubled
                : nodes.Count == 0 ? [Finding.NotChecked(Name, "The cluster has no nodes.")]
                : [Finding.Ok(Name, $"The cluster has {Counted.Of(nodes.Count, "node")}, and no trouble is reported.")],
            .. nodes.SelectMany(static node => node.Held, static (node, held) => Finding.Ok(
                Name, $"The node {node.Name} publishes topic \"{held.Topic}\" at the rate of a slow reader: {held.Rate}.")),
        ];
    }

    private static Finding? Of(ClusterNode node) => node switch
    {
        { SilentSeconds: { } silent } => new Finding(
            Name,
            FindingStatus.Warning,
            string.Create(CultureInfo.InvariantCulture, $"The node {node.Name} at {node.EndPoint} has been silent for {silent:0.0} s.")),
        { Trouble: { } trouble } => new Finding(Name, FindingStatus.Warning, $"The node {node.Name} at {node.EndPoint} reports: {trouble}"),
        _ => null,
    };
}
