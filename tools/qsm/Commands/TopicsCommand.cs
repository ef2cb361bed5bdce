using System.CommandLine;
using System.Globalization;
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
        var json = new Option<bool>("--json") { Description = "Write one JSON object per topic." };
        var command = common.AddToObserver(new Command("topics", "List the open topics of a cluster with their types.") { filter, json });
        command.SetAction(parse => Session.RunAsync(parse, common, session =>
            RunAsync(session, common.IsVerbose(parse), parse.GetValue(filter), parse.GetValue(json))));
        return command;
    }

    private static async Task<int> RunAsync(Session session, bool isVerbose, string? filter, bool json)
    {
        var topics = await TopicCatalog.ReadAllAsync(session, isVerbose);
        topics.RemoveAll(topic => filter is not null
            && !topic.Name.Contains(filter, StringComparison.OrdinalIgnoreCase)
            && !topic.Contract.TypeName.Contains(filter, StringComparison.OrdinalIgnoreCase));
        if (json)
        {
            topics.ForEach(topic => Console.Out.WriteLine(TopicJson.Of(topic).ToJson()));
            return ExitCode.Ok;
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
        return ExitCode.Ok;
    }
}
