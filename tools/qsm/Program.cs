using System.CommandLine;
using System.CommandLine.Invocation;
using QuickSilver.Tool;
using QuickSilver.Tool.Commands;
using QuickSilver.Tool.Commands.Keys;
using QuickSilver.Tool.Commands.Perf;
using QuickSilver.Tool.Lines;
using QuickSilver.Tool.Sessions;

var root = new RootCommand("Publish, subscribe, look at, measure, watch, simulate and run the membership service of QuickSilver.")
{
    PubCommand.Create(),
    SubCommand.Create(),
    TopicsCommand.Create(),
    TopicCommand.Create(),
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

ClosedPipe.Watch();
try
{
    ParseResult parse = root.Parse(HelpRequest.Of(args));
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
    return await parse.InvokeAsync(new InvocationConfiguration { EnableDefaultExceptionHandler = false, ProcessTerminationTimeout = null });
}
catch (Exception exception) when (ClosedPipe.IsCauseOf(exception))
{
    return ExitCode.Ok;
}
