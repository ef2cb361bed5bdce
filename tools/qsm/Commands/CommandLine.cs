using System.CommandLine;
using System.CommandLine.Invocation;
using QuickSilver.Tool.Commands.Groups;
using QuickSilver.Tool.Commands.Keys;
using QuickSilver.Tool.Commands.Perf;
using QuickSilver.Tool.Commands.Swarm;
using QuickSilver.Tool.Sessions;

namespace QuickSilver.Tool.Commands;

// All commands, and the run of one of them. A wrong command line is refused before anything runs.
internal static class CommandLine
{
    public static RootCommand Build() => new(
        "Publish, subscribe, look at, measure, watch, simulate and run the membership service of QuickSilver.")
    {
        PubCommand.Create(),
        SubCommand.Create(),
        TopicsCommand.Create(),
        TopicCommand.Create(),
        GroupCommand.Create(),
        LockCommand.Create(),
        LeadCommand.Create(),
        NodesCommand.Create(),
        TopCommand.Create(),
        DashboardCommand.Create(),
        DoctorCommand.Create(),
        GmsCommand.Create(),
        KeysCommand.Create(),
        PerfCommand.Create(),
        SimCommand.Create(),
        SwarmCommand.Create(),
        DemoCommand.Create(),
        DemoCommand.CreateNode(),
        CompletionCommand.Create(),
    };

    /// <summary>Runs a command.</summary>
    /// <param name="arguments">What follows the name of the program.</param>
    /// <returns>The exit code.</returns>
    public static async Task<int> RunAsync(string[] arguments)
    {
        ParseResult parse = Build().Parse(HelpRequest.Of(arguments));
        // Help, the version and suggestions are given however wrong the rest is.
        bool runs = parse.Action is ParseErrorAction || parse.Action == parse.CommandResult.Command.Action;
        if (runs && CommandLineFaults.Of(parse) is { Count: > 0 } faults)
        {
            foreach (string fault in faults)
            {
                Terminal.Error(fault);
            }

            Terminal.Note("Run with --help to list the commands and options.");
            return ExitCode.Usage;
        }

        // Each command watches the signals itself and maps its faults to exit codes, so the parser's own handlers are off.
        var invocation = new InvocationConfiguration { EnableDefaultExceptionHandler = false, ProcessTerminationTimeout = null };
        return await parse.InvokeAsync(invocation);
    }
}
