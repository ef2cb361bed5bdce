using System.CommandLine;
using System.Globalization;
using QuickSilver.Groups.Tools;
using QuickSilver.Tool.Groups;
using QuickSilver.Tool.Sessions;

namespace QuickSilver.Tool.Commands.Groups;

// Runs a program on one node of the cluster at a time, and on another one when that fails.
internal static class LeadCommand
{
    public static Command Create()
    {
        var common = new CommonOptions();
        var name = new Argument<string>("LEADERSHIP") { Description = "What this node is a candidate for." };
        name.Validators.Add(Bounds.CheckTopics);
        var program = LockCommand.GuardedArgument();
        var hosted = new Option<bool>("--hosted")
        {
            Description = "Also where nodes host the membership service, as on one machine. Each part of a divided network then has a "
                + "leader.",
        };
        var command = common.AddTo(new Command(
            "lead",
            "Run a command while this node leads. Its environment has the term: QUICKSILVER_TERM. When the command ends, so does this one, "
            + "with its exit code, and another candidate leads. If the leadership is lost before, the command gets SIGTERM. It is started "
            + "again when it has ended and this node leads again.")
        {
            name, program, hosted,
        });
        command.SetAction(parse => Session.RunAsync(parse, common, session => RunAsync(
            session, parse.GetValue(name)!, parse.GetValue(program)!, parse.GetValue(hosted))));
        return command;
    }

    private static async Task<int> RunAsync(Session session, string name, string[] command, bool isHosted)
    {
        var program = GuardedProgram.Find(command);
        session.LeavesUnhandled = true;
        await using var node = await session.StartNodeAsync();
        await using var lease = await OpenAsync(session, node, name, isHosted);
        while (true)
        {
            var leadership = await lease.WaitForLeadershipAsync(session.Interrupted);
            (string, string)[] variables = [("QUICKSILVER_TERM", leadership.Term.ToString(CultureInfo.InvariantCulture))];
            var end = await GuardedRun.RunAsync(session, program, variables, $"The leadership \"{name}\"", leadership.Lost);
            if (!end.WasLost || end.WasSignalled)
            {
                return end.ExitCode;
            }
        }
    }

    private static async Task<ILeaderLease> OpenAsync(Session session, QuickSilverNode node, string name, bool isHosted)
    {
        try
        {
            return await node.OpenLeaderAsync(name, new LeaderOptions { AllowHostedService = isHosted }, session.Interrupted);
        }
        catch (Exception exception) when (exception is not OperationCanceledException)
        {
            throw LockCommand.OnOpen(name, exception);
        }
    }
}
