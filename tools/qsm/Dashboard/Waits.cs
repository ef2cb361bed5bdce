using QuickSilver.Membership.Snapshots;
using QuickSilver.Tool.Top;

namespace QuickSilver.Tool.Dashboard;

// Who waits for whom, and what to do about it: what nodes report as wrong, and nodes for which others will wait.
internal static class Waits
{
    public static IReadOnlyList<WaitJson> Of(ClusterTables tables)
    {
        var all = new List<WaitJson>();
        foreach (var row in tables.Nodes)
        {
            var waits = new List<WaitJson>();
            string node = row.Report.Node.Node.ToString();
            if (row.SilentSeconds is { } silent)
            {
                string heard = Figures.Span(row.Report.Node.HeardMillis);
                string what = $"The node does not answer the membership service, which heard it {heard} ago.";
                waits.Add(new WaitJson(node, row.Address, "bad", what, null, NodeRow.WhenSilent, silent));
            }
            else if (row.Report.Fault is { } fault)
            {
                string what = $"The node sent vital signs that cannot be read: {fault}.";
                waits.Add(new WaitJson(node, row.Address, "warn", what, null, null, null));
            }
            else if (row.Signs is { ReasonRows: { Length: > 0 } reasons })
            {
                waits.AddRange(reasons.Select(reason => Of(node, row.Address, reason)));
            }
            else if (row.Trouble is { } trouble)
            {
                waits.Add(new WaitJson(node, row.Address, "warn", trouble, null, null, null));
            }

            string? name = row.Report.Node.Name is { Length: > 0 } given ? given : null;
            all.AddRange(waits.Select(wait => wait with { Name = name }));
        }

        return all;
    }

    private static WaitJson Of(string node, string address, ReasonSnapshot reason) => new(
        node,
        address,
        "warn",
        reason.What,
        reason.WaitsFor.Length > 0 ? reason.WaitsFor : null,
        NodeRow.RemedyFor(reason.Kind),
        reason.SinceMillis / 1e3);
}
