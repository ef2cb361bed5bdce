using System.Globalization;
using System.Net;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Membership.Snapshots;
using QuickSilver.Tool.Top;

namespace QuickSilver.Tool.Doctor.Checks;

// A node of the cluster. Trouble: what it reports of itself; null: nothing.
internal sealed record ClusterNode(string Name, IPEndPoint EndPoint, double? SilentSeconds, string? Trouble)
{
    // What the trouble consists of, by kinds; none of a node of an earlier version.
    public IReadOnlyList<ReasonSnapshot> Reasons { get; init; } = [];

    // Topics that it publishes at the rate of a slow reader: the rate, and the node of the reader.
    public IReadOnlyList<(string Topic, string Rate)> Held { get; init; } = [];

    public bool IsInReachOf(IPAddress local) => AreInReach(local, EndPoint.Address);

    /// <summary>Whether packets from one address can reach the other: what has a loopback address is on its own machine only.</summary>
    public static bool AreInReach(IPAddress local, IPAddress other) => IPAddress.IsLoopback(local) || !IPAddress.IsLoopback(other);
}

// What the nodes of the running cluster say themselves, such as whom multicast does not reach.
internal static class NodesCheck
{
    public const string Name = "nodes";

    /// <param name="nodes">Those of the cluster; null: they are not known.</param>
    /// <param name="local">The address of this host's interface; null: it has none.</param>
    public static IEnumerable<Finding> Of(IReadOnlyList<ClusterNode>? nodes, IPAddress? local)
    {
        if (nodes is null)
        {
            return [Finding.NotChecked(Name, "No service answered that could name them.")];
        }

        Finding[] troubled = [.. nodes.SelectMany(node => Of(node, local))];
        return
        [
            .. troubled.Length > 0 ? troubled
                : nodes.Count == 0 ? [Finding.NotChecked(Name, "The cluster has no nodes.")]
                : [Finding.Ok(Name, $"The cluster has {Counted.Of(nodes.Count, "node")}, and no trouble is reported.")],
            .. nodes.SelectMany(static node => node.Held, static (node, held) => Finding.Ok(
                Name, $"The node {node.Name} publishes topic \"{held.Topic}\" at the rate of a slow reader: {held.Rate}.")),
        ];
    }

    private static IEnumerable<Finding> Of(ClusterNode node, IPAddress? local) => node switch
    {
        _ when local is not null && !node.IsInReachOf(local) =>
        [
            new Finding(
                Name,
                FindingStatus.Problem,
                $"The node {node.Name} has the loopback address {node.EndPoint.Address}. No node on another machine can reach it, and the "
                + "service admits none while it is a member. Set its Interface to an address that the others can reach, and restart it.",
                new Remedy("export QuickSilver__Interface=eth0", $"the machine of {node.Name}")),
        ],
        { SilentSeconds: { } silent } =>
        [
            Warning(node, string.Create(CultureInfo.InvariantCulture, $"has been silent for {silent:0.0} s. {NodeRow.WhenSilent}")),
        ],
        { Reasons.Count: > 0 } => node.Reasons.Select(reason => Warning(node, $"reports: {Described(reason)}")),
        { Trouble: { } trouble } => [Warning(node, $"reports: {trouble}")],
        _ => [],
    };

    private static Finding Warning(ClusterNode node, string what) =>
        new(Name, FindingStatus.Warning, $"The node {node.Name} at {node.EndPoint} {what}");

    // As the node's own status says it. What it waits for may be named in the sentences already, but not always.
    private static string Described(ReasonSnapshot reason) =>
        $"{reason.What}{(reason.WaitsFor.Length > 0 ? $" Waiting for {reason.WaitsFor}." : "")}"
        + (NodeRow.RemedyFor(reason.Kind) is { } advice ? $" {advice}" : "");
}
