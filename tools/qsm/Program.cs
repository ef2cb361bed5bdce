using System.CommandLine;
using System.CommandLine.Invocation;
using QuickSilver.Tool;
using QuickSilver.Tool.Commands;
using QuickSilver.Tool.Sessions;

var root = new RootCommand("Publish, subscribe, measure, watch, simulate and run the membership service of QuickSilver.")
{
    GmsCommand.Create(),
    PubCommand.Create(),
    SubCommand.Create(),
    PerfCommand.Create(),
    TopCommand.Create(),
    SimCommand.Create(),
    SwarmCommand.Create(),
};

ParseResult parse = root.Parse(args);
if (parse.Action is ParseErrorAction)
{
    foreach (var error in parse.Errors)
    {
        Terminal.Error(error.Message);
    }

    Terminal.Note("Run with --help to list the commands and options.");
    return ExitCode.Usage;
}

// Each command watches the signals itself and maps its faults to exit codes, so the parser's own handlers are off.
return await parse.InvokeAsync(new InvocationConfiguration { EnableDefaultExceptionHandler = false, ProcessTerminationTimeout = null });
