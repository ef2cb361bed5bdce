using System.Diagnostics;
using System.Text;
using QuickSilver.Processes.Tests.Lab.Machine;

namespace QuickSilver.Processes.Tests.Harness;

// Processes of qsm on the loopback interface, which end with their test.
internal sealed class ToolProcesses : IDisposable
{
    public static readonly TimeSpan Limit = TimeSpan.FromSeconds(60);

    private readonly List<Process> _processes = [];

    /// <summary>Reads lines up to the first that begins so.</summary>
    public static string Await(StreamReader from, string beginning) => Await(from, beginning, new StringBuilder());

    /// <summary>Reads lines up to the first that begins so, and keeps those that were read: a log is written beside the command.</summary>
    public static string Await(StreamReader from, string beginning, StringBuilder read)
    {
        string? line;
        do
        {
            line = from.ReadLine() ?? throw new EndOfStreamException($"The process ended before it wrote '{beginning}'.");
            read.AppendLine(line);
        }
        while (!line.StartsWith(beginning, StringComparison.Ordinal));
        return line;
    }

    /// <summary>Reads lines until one says that messages were dropped because the output is read too slowly.</summary>
    public static void AwaitDropped(StreamReader from)
    {
        while (!Await(from, "").Contains("messages dropped so far", StringComparison.Ordinal))
        {
        }
    }

    /// <summary>Starts a membership service of a cluster, and returns its address.</summary>
    public string StartService(string cluster) =>
        Await(Start("gms", "--listen", "127.0.0.1:0", "--cluster", cluster).StandardError, "listening ")["listening ".Length..];

    /// <summary>Runs a command to its end.</summary>
    public (int Code, string Output, string Errors) Run(params string[] arguments) => Run([], arguments);

    /// <summary>Runs a command to its end, with these variables in its environment.</summary>
    public (int Code, string Output, string Errors) Run(Dictionary<string, string> variables, params string[] arguments)
    {
        var process = Start(variables, arguments);
        var output = process.StandardOutput.ReadToEndAsync();
        var errors = process.StandardError.ReadToEndAsync();
        Assert.True(process.WaitForExit(Limit), "The command did not end.");
        return (process.ExitCode, output.Result, errors.Result);
    }

    public Process Start(params string[] arguments) => Start([], arguments);

    /// <summary>Starts a process that may open so many files and sockets.</summary>
    public Process StartWithDescriptors(int limit, params string[] arguments) =>
        Start("/bin/sh", [], ["-c", $"ulimit -n {limit} && exec \"$0\" \"$@\"", Programs.Qsm, .. arguments]);

    /// <summary>Starts a node that does what its input says, on the loopback interface, and waits until it has joined.</summary>
    public Process StartStreamNode(string service)
    {
        var node = Start(Programs.StreamNode, [], [service, "127.0.0.1", "0"]);
        Await(node.StandardOutput, "ready");
        return node;
    }

    /// <summary>Starts a command with these variables in its environment.</summary>
    public Process Start(Dictionary<string, string> variables, params string[] arguments) => Start(Programs.Qsm, variables, arguments);

    private Process Start(string program, Dictionary<string, string> variables, string[] arguments)
    {
        var start = new ProcessStartInfo(program, arguments)
        {
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        foreach (var (name, value) in variables)
        {
            start.Environment[name] = value;
        }

        var process = LimitedProcess.Start(start);
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
