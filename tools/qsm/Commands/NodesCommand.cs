using System.CommandLine;
using System.Globalization;
using QuickSilver.Membership.Protocol.Replies;
using QuickSilver.Tool.Catalog;
using QuickSilver.Tool.Sessions;
using QuickSilver.Tool.Top;

namespace QuickSilver.Tool.Commands;

// The nodes of a cluster, once; top shows what they do.
internal static class NodesCommand
{
    public static Command Create()
    {
        var common = new CommonOptions();
        var filter = new Option<string?>("--filter")
        {
            Description = "Show only nodes whose id or address contains TEXT.",
            HelpName = "TEXT",
        };
        var json = new Option<bool>("--json") { Description = "Write one JSON object per node." };
        var command = common.AddToObserver(new Command("nodes", "List the nodes of a cluster.") { filter, json });
        command.SetAction(parse => Session.RunAsync(parse, common, session =>
            RunAsync(session, common.IsVerbose(parse), parse.GetValue(filter), parse.GetValue(json))));
        return command;
    }

    private static async Task<int> RunAsync(Session session, bool isVerbose, string? filter, bool json)
    {
        await using var watch = await ClusterWatch.StartAsync(session, isVerbose, rows: 1);
        var answer = await watch.AskAsync(session.Interrupted);
        var nodes = answer.Nodes.Select(static report => Of(new NodeRow(report)))
            .Where(node => filter is null
                || node.Node.Contains(filter, StringComparison.OrdinalIgnoreCase)
                || node.Address.Contains(filter, StringComparison.OrdinalIgnoreCase))
            .ToList();
        if (json)
        {
            nodes.ForEach(static node => Console.Out.WriteLine(node.ToJson()));
        }
        else
        {
            PlainText.Table(
                ["node", "address", "state", "topics ", "regions ", "trouble"],
                [.. nodes.Select(static node => new[]
                {
                    node.Node,
                    node.Address,
                    node.SilentSeconds is { } silent
                        ? string.Create(CultureInfo.InvariantCulture, $"silent for {silent:0.0} s")
                        : node.State,
                    node.Topics?.ToString(CultureInfo.InvariantCulture) ?? "–",
                    node.Regions?.ToString(CultureInfo.InvariantCulture) ?? "–",
                    node.Trouble ?? "",
                })]);
        }

        if (answer.Service.Told < answer.Service.Nodes)
        {
            Terminal.Note($"{answer.Service.Told} of {answer.Service.Nodes} nodes are shown.");
        }

        return ExitCode.Ok;
    }

    private static NodeJson Of(NodeRow row) => new(
        row.Report.Node.Node.ToString(),
        row.Address,
        row.Report.Fault is not null ? "invalid"
            : row.Report.Node.Outcome == SignsOutcome.Told ? "up"
            : row.Report.Node.Outcome.ToString().ToLowerInvariant(),
        row.SilentSeconds,
        row.Signs?.Topics,
        row.Signs?.Regions,
        row.Trouble);
}
