using System.Diagnostics;

namespace QuickSilver.Processes.Tests.Scenarios;

// Processes of qsm on the loopback interface, which end with their test.
internal sealed class ToolProcesses : IDisposable
{
    public static readonly TimeSpan Limit = TimeSpan.FromSeconds(60);

    private readonly List<Process> _processes = [];

    /// <summary>Reads lines up to the first that begins so.</summary>
    public static string Await(StreamReader from, string beginning)
    {
        string? line;
        do
        {
            line = from.ReadLine() ?? throw new EndOfStreamException($"The process ended before it wrote '{beginning}'.");
        }
        while (!line.StartsWith(beginning, StringComparison.Ordinal));
        return line;
    }

    /// <summary>Starts a membership service of a cluster, and returns its address.</summary>
    public string StartService(string cluster) =>
        Await(Start("gms", "--listen", "127.0.0.1:0", "--cluster", cluster).StandardError, "listening ")["listening ".Length..];

    /// <summary>Runs a command to its end.</summary>
    public (int Code, string Output, string Errors) Run(params string[] arguments)
    {
        var process = Start(arguments);
        var output = process.StandardOutput.ReadToEndAsync();
        var errors = process.StandardError.ReadToEndAsync();
        Assert.True(process.WaitForExit(Limit), "The command did not end.");
        return (process.ExitCode, output.Result, errors.Result);
    }

    public Process Start(params string[] arguments)
    {
        var process = Process.Start(new ProcessStartInfo(Programs.Qsm, arguments)
        {
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        })!;
        _processes.Add(process);
        return process;
    }

    public void Dispose()
    {
        foreach (var process in _processes)
        {
            if (!process.HasExited)
            {
                process.Kill();
            }

            process.WaitForExit();
            process.Dispose();
        }
    }
}
