using System.CommandLine;
using System.Globalization;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Membership.Contracts;
using QuickSilver.Membership.Protocol.Replies;
using QuickSilver.Tool.Catalog;
using QuickSilver.Tool.Sessions;

namespace QuickSilver.Tool.Commands;

// The open topics of a cluster, as the membership service knows them.
internal static class TopicsCommand
{
    public static Command Create()
    {
        var common = new CommonOptions();
        var filter = new Option<string?>("--filter")
        {
            Description = "Show only topics whose name or type contains TEXT.",
            HelpName = "TEXT",
        };
        var all = new Option<bool>("--all")
        {
            Description = "Also show inboxes, one for each node that sends requests or has a state. Without it, standard error says how "
                + "many are left out, also with --json.",
        };
        var json = new Option<bool>("--json") { Description = "Write one JSON object per topic." };
        var command = common.AddToObserver(
            new Command("topics", "List the open topics of a cluster with their types.") { filter, all, json });
        command.SetAction(parse => Session.RunAsync(parse, common, async session =>
        {
            var topics = await ReadAsync(session, common.IsVerbose(parse), parse.GetValue(filter));
            int inboxes = parse.GetValue(all) ? 0 : topics.RemoveAll(static topic => InboxName.IsInbox(topic.Name));
            Print(topics, parse.GetValue(json));
            if (inboxes > 0)
            {
                Terminal.Note($"{Counted.Of(inboxes, "inbox topic")} not shown (--all).");
            }

            return ExitCode.Ok;
        }));
        return command;
    }

    private static async Task<List<ListedTopicMessage>> ReadAsync(Session session, bool isVerbose, string? filter)
    {
        var topics = await TopicCatalog.ReadAllAsync(session, isVerbose);
        topics.RemoveAll(topic => filter is not null
            && !topic.Name.Contains(filter, StringComparison.OrdinalIgnoreCase)
            && !topic.Contract.TypeName.Contains(filter, StringComparison.OrdinalIgnoreCase));
        return topics;
    }

    private static void Print(List<ListedTopicMessage> topics, bool json)
    {
        if (json)
        {
            topics.ForEach(topic => Console.Out.WriteLine(TopicJson.Of(topic).ToJson()));
            return;
        }

        PlainText.Table(
            ["topic", "type", "guarantee", "publishers ", "subscribers ", "versions "],
            [.. topics.Select(topic => new[]
            {
                topic.Name,
                topic.Contract.TypeName,
                topic.Contract.Guarantee,
                topic.Publishers.ToString(CultureInfo.InvariantCulture),
                topic.Subscribers.ToString(CultureInfo.InvariantCulture),
                topic.Versions.ToString(CultureInfo.InvariantCulture),
            })]);
    }
}
