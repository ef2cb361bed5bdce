using System.CommandLine;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Serialization.Dynamic;
using QuickSilver.Tool.Catalog;
using QuickSilver.Tool.Groups;
using QuickSilver.Tool.Sessions;

namespace QuickSilver.Tool.Commands.Groups;

// The process groups of a cluster, as the membership service knows them: all, or one with its members.
internal static class GroupListCommand
{
    public static Command List()
    {
        var common = new CommonOptions();
        var filter = new Option<string?>("--filter")
        {
            Description = "Show only groups whose name or type contains TEXT.",
            HelpName = "TEXT",
        };
        var json = new Option<bool>("--json") { Description = "Write one JSON object per group." };
        var command = common.AddToObserver(
            new Command("list", "List the process groups of a cluster, with what their members have in common.") { filter, json });
        command.SetAction(parse => Session.RunAsync(parse, common, async session =>
        {
            var groups = await ReadAsync(session, common.IsVerbose(parse), parse.GetValue(filter));
            if (parse.GetValue(json))
            {
                groups.ForEach(static group => Console.Out.WriteLine(group.ToJson()));
            }
            else
            {
                PlainText.Table(
                    ["group", "type", "keeps", "members "],
                    [.. groups.Select(static group => new[] { group.Group, group.Type, group.Keeps, $"{group.Members}" })]);
            }

            return ExitCode.Ok;
        }));
        return command;
    }

    public static Command Describe()
    {
        var common = new CommonOptions();
        var name = new Argument<string>("GROUP") { Description = "The group." };
        name.CompleteWith(common, ClusterNames.Topics);
        name.Validators.Add(Bounds.CheckTopics);
        var json = new Option<bool>("--json") { Description = "Print one JSON object." };
        var command = common.AddToObserver(new Command(
            "describe",
            "Show a process group: what its messages are, what its members keep, and which nodes are members. Their ranks are in the views "
            + "that 'qsm group join' prints.")
        {
            name, json,
        });
        command.SetAction(parse => Session.RunAsync(parse, common, async session =>
        {
            var group = GroupListing.Of(
                await FindAsync(session, parse.GetValue(name)!), await TopicCatalog.ReadNamesAsync(session));
            if (parse.GetValue(json))
            {
                Console.Out.WriteLine(group.ToJson());
                return ExitCode.Ok;
            }

            Terminal.Table([("group", SafeText.Of(group.Group)), ("type", SafeText.Of(group.Type)), ("keeps", group.Keeps)]);
            Console.Out.WriteLine();
            foreach (var member in group.Nodes ?? [])
            {
                Console.Out.WriteLine(member.Name == member.Node ? member.Node : $"{member.Name} ({member.Node})");
            }

            if (group.Nodes?.Count is not { } named || named < group.Members)
            {
                Terminal.Note($"{group.Nodes?.Count ?? 0} of {Counted.Of(group.Members, "member")} are shown.");
            }

            return ExitCode.Ok;
        }));
        return command;
    }

    private static async Task<List<GroupListing>> ReadAsync(Session session, bool isVerbose, string? filter)
    {
        var topics = await TopicCatalog.ReadAllAsync(session, isVerbose);
        return
        [
            .. topics.Where(static topic => GroupListing.IsGroup(topic)).Select(static topic => GroupListing.Of(topic)).Where(group =>
                filter is null
                || group.Group.Contains(filter, StringComparison.OrdinalIgnoreCase)
                || group.Type.Contains(filter, StringComparison.OrdinalIgnoreCase)),
        ];
    }

    private static async Task<TopicContracts> FindAsync(Session session, string name)
    {
        var contracts = await TopicCatalog.ReadAsync(session, name);
        if (contracts.IsOpen && GroupListing.IsGroup(contracts.Versions[0]))
        {
            return contracts;
        }

        if (contracts.IsOpen)
        {
            throw new ToolException(
                ExitCode.Failed, $"{SafeText.Of(name)}: this topic is no group. 'qsm topic describe {SafeText.Of(name)}' shows it.");
        }

        var groups = await ReadAsync(session, isVerbose: false, filter: null);
        string hint = NearestName.Of(name, groups.Select(static group => group.Group)) is { } near
            ? $" Did you mean '{SafeText.Of(near)}'?"
            : $" {Counted.Of(groups.Count, "group")} {(groups.Count == 1 ? "is" : "are")} open: run 'qsm group list' to list them.";
        throw new ToolException(ExitCode.Failed, $"No node of cluster '{session.Options.Cluster}' is in the group '{name}'.{hint}");
    }
}
