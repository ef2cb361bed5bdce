using QuickSilver.Tool;
using QuickSilver.Tool.Commands;
using QuickSilver.Tool.Lines;

ClosedPipe.Watch();
try
{
    return await CommandLine.RunAsync(args);
}
catch (Exception exception) when (ClosedPipe.IsCauseOf(exception))
{
    return ExitCode.Ok;
}
