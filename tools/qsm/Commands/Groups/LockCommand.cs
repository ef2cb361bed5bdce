using System.CommandLine;
using System.Globalization;
using QuickSilver.Groups.Tools;
using QuickSilver.Tool.Groups;
using QuickSilver.Tool.Sessions;

namespace QuickSilver.Tool.Commands.Groups;

// Runs a program while this node holds a lock of the cluster.
internal static class LockCommand
{
    // In seconds: 30 days.
    private const double LongestWait = 30 * 86_400;

    public static Command Create()
    {
        var common = new CommonOptions();
        var name = new Argument<string>("LOCK") { Description = "The lock." };
        name.Validators.Add(Bounds.CheckTopics);
        var program = GuardedArgument();
        var wait = new Option<double?>("--wait")
        {
            Description = "How long to wait for the lock, from when this node can ask for it; 0: only if it is free. If it was not "
                + "granted then, the exit code is 124. Without it, the command waits until it is granted.",
            HelpName = "SECONDS",
        }.Within(0, LongestWait);
        var hosted = new Option<bool>("--hosted")
        {
            Description = "Also where nodes host the membership service, as on one machine. Each part of a divided network then grants it.",
        };
        var command = common.AddTo(new Command(
            "lock",
            "Run a command while this node holds a lock of the cluster. Its environment has the fencing number of the hold: "
            + "QUICKSILVER_FENCING_VIEW and QUICKSILVER_FENCING_GRANT. The exit code is that of the command. If the lock is lost "
            + "meanwhile, the command gets SIGTERM, and the exit code is 125.")
        {
            name, program, wait, hosted,
        });
        command.SetAction(parse => Session.RunAsync(parse, common, session => RunAsync(
            session, parse.GetValue(name)!, parse.GetValue(program)!, parse.GetValue(wait), parse.GetValue(hosted))));
        return command;
    }

    /// <summary>The program and its arguments, for a command that runs one.</summary>
    public static Argument<string[]> GuardedArgument() => new("COMMAND")
    {
        Description = "The command to run and its arguments, behind --.",
        Arity = ArgumentArity.OneOrMore,
    };

    /// <summary>What a tool that needs a standalone service could not be opened for.</summary>
    public static ToolException OnOpen(string name, Exception exception) => exception is NotSupportedException
        ? new ToolException(
            ExitCode.Failed,
            $"{name}: nodes host the membership service here, so each part of a divided network would have one of its own. Run qsm gms and "
            + "name it by --gms. On one machine, use --hosted.",
            exception)
        : ToolException.OnOpen(name, exception, carriesBytes: false);

    private static async Task<int> RunAsync(Session session, string name, string[] command, double? wait, bool isHosted)
    {
        var program = GuardedProgram.Find(command);
        session.LeavesUnhandled = true;
        await using var node = await session.StartNodeAsync();
        await using var held = await OpenAsync(session, node, name, isHosted);
        await using var hold = await AcquireAsync(session, node, held, wait);
        var end = await GuardedRun.RunAsync(session, program, VariablesOf(hold.FencingNumber), $"The lock \"{name}\"", hold.Lost);
        return end.WasLost ? ExitCode.Lost : end.ExitCode;
    }

    private static async Task<IDistributedLock> OpenAsync(Session session, QuickSilverNode node, string name, bool isHosted)
    {
        try
        {
            return await node.OpenLockAsync(name, new LockOptions { AllowHostedService = isHosted }, session.Interrupted);
        }
        catch (Exception exception) when (exception is not OperationCanceledException)
        {
            throw OnOpen(name, exception);
        }
    }

    private static async Task<ILockHold> AcquireAsync(Session session, QuickSilverNode node, IDistributedLock held, double? wait)
    {
        using var over = CancellationTokenSource.CreateLinkedTokenSource(session.Interrupted);
        if (wait is > 0 and { } seconds)
        {
            over.CancelAfter(TimeSpan.FromSeconds(seconds));
        }

        ILockHold? hold = null;
        try
        {
            hold = wait == 0 ? await held.TryAcquireAsync(over.Token) : await held.AcquireAsync(over.Token);
        }
        catch (OperationCanceledException) when (!session.Interrupted.IsCancellationRequested)
        {
        }

        string holder = held.Holder is { } other ? $": node {node.NameOf(other)} holds it" : "";
        return hold ?? throw new ToolException(
            ExitCode.NotInTime,
            string.Create(CultureInfo.InvariantCulture, $"The lock \"{held.Name}\" was not granted within {wait} s{holder}."));
    }

    private static (string Name, string Value)[] VariablesOf(FencingNumber number) =>
    [
        ("QUICKSILVER_FENCING_VIEW", number.View.ToString(CultureInfo.InvariantCulture)),
        ("QUICKSILVER_FENCING_GRANT", number.Grant.ToString(CultureInfo.InvariantCulture)),
    ];
}
