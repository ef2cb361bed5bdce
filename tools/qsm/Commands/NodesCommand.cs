using System.CommandLine;
using System.Globalization;
using QuickSilver.Tool.Catalog;
using QuickSilver.Tool.Sessions;
using QuickSilver.Tool.Top;

namespace QuickSilver.Tool.Commands;

// The nodes of a cluster, once; top shows what they do.
internal static class NodesCommand
{
    private const string Unknown = "–";

    public static Command Create()
    {
        var common = new CommonOptions();
        var filter = new Option<string?>("--filter")
        {
            Description = "Show only nodes whose name, id, address or machine contains TEXT.",
            HelpName = "TEXT",
        }.CompleteWith(common, ClusterNames.Nodes);
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
                || new[] { node.Name, node.Node, node.Address, node.Machine }
                    .Any(text => text?.Contains(filter, StringComparison.OrdinalIgnoreCase) == true))
            .ToList();
        if (json)
        {
            nodes.ForEach(static node => Console.Out.WriteLine(node.ToJson()));
        }
        else
        {
            PlainText.Table(
                ["name", "address", "machine", "process", "pid ", "version", "state", "topics ", "regions ", "node", "trouble"],
                [.. nodes.Select(static node => new[]
                {
                    node.Name ?? Unknown,
                    node.Address,
                    node.Machine ?? Unknown,
                    node.Process ?? Unknown,
                    node.ProcessId?.ToString(CultureInfo.InvariantCulture) ?? Unknown,
                    node.Version ?? Unknown,
                    node.SilentSeconds is { } silent
                        ? string.Create(CultureInfo.InvariantCulture, $"silent for {silent:0.0} s")
                        : node.State,
                    node.Topics?.ToString(CultureInfo.InvariantCulture) ?? Unknown,
                    node.Regions?.ToString(CultureInfo.InvariantCulture) ?? Unknown,
                    node.Node,
                    node.Trouble ?? "",
                })]);
        }

        if (answer.Service.Reported < answer.Service.Nodes)
        {
            Terminal.Note($"{answer.Service.Reported} of {answer.Service.Nodes} nodes are shown.");
        }

        return ExitCode.Ok;
    }

    private static NodeJson Of(NodeRow row)
    {
        var report = NodeReportJson.Of(row);
        return new NodeJson
        {
            Node = report.Node,
            Address = report.Address,
            State = report.State == "reported" ? "up" : report.State,
            SilentSeconds = report.SilentSeconds,
            Topics = report.TopicCount,
            Regions = report.RegionCount,
            Trouble = report.Trouble,
            Name = report.Name,
            Machine = report.Machine,
            Process = report.Process,
            ProcessId = report.ProcessId,
            Version = report.Version,
        };
    }
}
