using System.Diagnostics;

namespace QuickSilver.Processes.Tests.Lab.Machine;

// A process of a test, on the machine's own network. One that runs for longer than any test needs is ended, with what it has started. A
// reader of its output then reads the end of it, and the test fails instead of waiting forever.
internal static class LimitedProcess
{
    private static readonly TimeSpan Limit = TimeSpan.FromMinutes(4);

    public static Process Start(ProcessStartInfo start) => Start(start, Limit);

    public static Process Start(ProcessStartInfo start, TimeSpan limit)
    {
        var process = Process.Start(start)!;
        _ = EndAsync(process, $"{Path.GetFileName(start.FileName)} {string.Join(' ', start.ArgumentList)}", limit);
        return process;
    }

    /// <summary>Runs a program to its end.</summary>
    /// <param name="start">The program. Its input, output and errors are redirected.</param>
    /// <param name="input">What it reads.</param>
    /// <param name="limit">How long it may run.</param>
    public static (int Code, string Output, string Errors) Run(ProcessStartInfo start, string input = "", TimeSpan? limit = null)
    {
        start.RedirectStandardInput = true;
        start.RedirectStandardOutput = true;
        start.RedirectStandardError = true;
        using var process = Start(start, limit ?? Limit);
        var errors = process.StandardError.ReadToEndAsync();
        process.StandardInput.Write(input);
        process.StandardInput.Close();
        string output = process.StandardOutput.ReadToEnd();
        process.WaitForExit();
        return (process.ExitCode, output, errors.Result);
    }

    private static async Task EndAsync(Process process, string command, TimeSpan limit)
    {
        await Task.Delay(limit).ConfigureAwait(false);
        try
        {
            if (!process.HasExited)
            {
                process.Kill(entireProcessTree: true);
                await Console.Error.WriteLineAsync($"{command} ran for {limit} and was ended.").ConfigureAwait(false);
            }
        }
        catch (InvalidOperationException)
        {
            // Its test has ended it, and disposed of the object.
        }
    }
}
