using System.CommandLine;
using QuickSilver.Membership.Snapshots;
using QuickSilver.Tool.Catalog;
using QuickSilver.Tool.Sessions;
using QuickSilver.Tool.Top;
using Spectre.Console;

namespace QuickSilver.Tool.Commands;

// The vital signs of a cluster, live: asks the membership service, which asks the nodes.
internal static class TopCommand
{
    public static Command Create()
    {
        var common = new CommonOptions();
        var interval = new Option<double>("--interval")
        {
            Description = "Seconds between refreshes.",
            HelpName = "S",
            DefaultValueFactory = _ => 1,
        }.Within(0.2, 60);
        var count = new Option<long?>("--count") { Description = "Stop after N refreshes.", HelpName = "N" }.Within(1, long.MaxValue);
        var sort = new Option<SortKey>("--sort")
        {
            Description = "Sort by rate, name, queued, pending, acks, token, late, gc or memory. Tables without the column sort by rate.",
            HelpName = "KEY",
            DefaultValueFactory = _ => SortKey.Rate,
        }.Named();
        var filter = new Option<string?>("--filter")
        {
            Description = "Show only nodes, regions, topics and groups whose id, address or name contains TEXT.",
            HelpName = "TEXT",
        }.CompleteWith(common, ClusterNames.NodesAndTopics);
        var rows = new Option<int>("--rows")
        {
            Description = "The number of regions, of topics and of groups that are shown, the busiest first.",
            HelpName = "N",
            DefaultValueFactory = _ => 10,
        }.Within(1, NodeSnapshot.MostRows);
        var all = new Option<bool>("--all")
        {
            Description = "Also show the inboxes of nodes, to which answers to their requests come, among the topics.",
        };
        var json = new Option<bool>("--json") { Description = "Write one JSON object per refresh." };
        const string Purpose = "Show the vital signs of a cluster's nodes, regions, topics and groups. Ends with Ctrl-C.";
        var command = common.AddToObserver(new Command("top", Purpose) { interval, count, sort, filter, rows, all, json });
        command.SetAction(parse => Session.RunAsync(parse, common, session =>
        {
            var view = new TopView(session.Options.Cluster, parse.GetValue(sort), parse.GetValue(filter), parse.GetValue(rows))
            {
                HasInboxes = parse.GetValue(all),
            };
            var plan = new Plan(
                TimeSpan.FromSeconds(parse.GetValue(interval)), parse.GetValue(count) ?? long.MaxValue, parse.GetValue(json));
            return RunAsync(session, common.IsVerbose(parse), view, plan);
        }));
        return command;
    }

    private sealed record Plan(TimeSpan Interval, long Count, bool IsJson);

    private static async Task<int> RunAsync(Session session, bool isVerbose, TopView view, Plan plan)
    {
        await using var watch = await ClusterWatch.StartAsync(session, isVerbose, view.AskedRows);
        try
        {
            await watch.BeginAsync(plan.Interval, session.Interrupted);
            if (plan.IsJson || Console.IsOutputRedirected)
            {
                await RefreshAsync(session, watch, view, plan, tables => WriteLines(tables, plan.IsJson));
            }
            else
            {
                await AnsiConsole.Live(new Text("")).Overflow(VerticalOverflow.Crop).StartAsync(screen =>
                    RefreshAsync(session, watch, view, plan, tables =>
                        screen.UpdateTarget(TopScreen.Of(tables, AnsiConsole.Profile.Width, AnsiConsole.Profile.Height))));
            }
        }
        catch (OperationCanceledException) when (session.Interrupted.IsCancellationRequested)
        {
            // A signal is the proper end of watching.
        }

        return ExitCode.Ok;
    }

    private static async Task RefreshAsync(
        Session session, ClusterWatch watch, TopView view, Plan plan, Action<ClusterTables> show)
    {
        using var timer = new PeriodicTimer(plan.Interval);
        for (long i = 0; i < plan.Count; i++)
        {
            if (i > 0)
            {
                await timer.WaitForNextTickAsync(session.Interrupted);
            }

            var answer = await watch.AskAsync(session.Interrupted);
            show(ClusterTables.Of(answer, watch.Service, view, DateTimeOffset.Now));
        }
    }

    private static void WriteLines(ClusterTables tables, bool isJson)
    {
        if (isJson)
        {
            Console.Out.WriteLine(TopReport.Of(tables).ToJson());
            return;
        }

        foreach (string line in TopText.Lines(tables))
        {
            Console.Out.WriteLine(line);
        }
    }
}
