using System.CommandLine;
using QuickSilver.Tool.Commands.Perf;
using QuickSilver.Tool.Sessions;
using QuickSilver.Tool.Swarm;

namespace QuickSilver.Tool.Commands.Swarm;

// Judges what the processes of a swarm have written down, after they have ended, by the simulator's checkers.
internal static class SwarmCheckCommand
{
    public static Command Create()
    {
        var files = new Argument<string[]>("FILE")
        {
            Description = "The --records files of all processes of one run on one machine.",
            Arity = ArgumentArity.OneOrMore,
        };
        var json = PerfCommand.Json();
        var command = new Command("check", "Merge the records of a swarm's processes and check the invariants.") { files, json };
        command.SetAction(parse => Run(parse.GetValue(files)!, parse.GetValue(json)));
        return command;
    }

    private static int Run(string[] files, bool json)
    {
        try
        {
            var judgement = SwarmJudgement.Of(files);
            judgement.Print(json);
            return judgement.ViolationCount == 0 ? ExitCode.Ok : ExitCode.Failed;
        }
        catch (Exception exception) when (exception is IOException or InvalidDataException or UnauthorizedAccessException)
        {
            Terminal.Error(exception.Message);
            return ExitCode.Failed;
        }
    }
}
