using System.CommandLine;
using QuickSilver.Groups;
using QuickSilver.Tool.Groups;
using QuickSilver.Tool.Lines;
using QuickSilver.Tool.Sessions;

namespace QuickSilver.Tool.Commands.Groups;

// A member of a group at a terminal. What it prints is what a program in the group gets: views between messages.
internal static class GroupCommand
{
    public static Command Create() =>
        new("group", "Show process groups, and take part in one.") { Join(), GroupListCommand.List(), GroupListCommand.Describe() };

    private static Command Join()
    {
        var common = new CommonOptions();
        var name = new Argument<string>("GROUP") { Description = "The group to join." };
        name.Validators.Add(Bounds.CheckTopics);
        var order = new Option<GroupOrder>("--order")
        {
            Description = "The order of the lines that this command sends: that of their sender (Fifo), after what this member had got "
                + "(Causal), one order at all members (Total), or one order of lines that all members hold (Safe).",
            HelpName = "ORDER",
            DefaultValueFactory = _ => GroupOrder.Total,
        }.Named();
        var sender = new Option<bool>("--sender") { Description = "Start each line with the name of the member that sent it." };
        var leave = new Option<bool>("--leave")
        {
            Description = "Leave the group when all lines of standard input are sent and all members hold them. Without it, the command "
                + "stays a member until it is interrupted.",
        };
        var command = common.AddTo(new Command(
            "join",
            "Join a group, send each line of standard input to all members, and print each line that the group delivers. A line that "
            + "begins with '# view' is a view: its number, and the members by age. Members that are in two successive views print the same "
            + "between them. Writes 'ready' to standard error when it is a member.")
        {
            name, order, sender, leave,
        });
        command.SetAction(parse => Session.RunAsync(parse, common, session => RunAsync(
            session, parse.GetValue(name)!, parse.GetValue(order), parse.GetValue(sender), parse.GetValue(leave))));
        return command;
    }

    private static async Task<int> RunAsync(Session session, string name, GroupOrder order, bool showsSender, bool leaves)
    {
        await using var node = await session.StartNodeAsync();
        await using var group = await OpenAsync(session, node, name, order);
        using var output = new LineWriter(StandardOutput.Open(), limit: null);
        await using var input = Console.OpenStandardInput();
        return await new GroupMember(node, group, output, showsSender).RunAsync(input, leaves, session.Interrupted);
    }

    private static async Task<IGroup<ReadOnlyMemory<byte>>> OpenAsync(Session session, QuickSilverNode node, string name, GroupOrder order)
    {
        try
        {
            return await node.OpenGroupAsync<ReadOnlyMemory<byte>>(name, new GroupOptions { Order = order }, session.Interrupted);
        }
        catch (Exception exception) when (exception is not OperationCanceledException)
        {
            throw ToolException.OnOpen(name, exception, carriesBytes: false);
        }
    }
}
