using System.Diagnostics;
using System.Text;
using QuickSilver.Processes.Tests.Lab.Network;

namespace QuickSilver.Processes.Tests.Lab.Machine;

// A real process on one node. `ip netns exec` and `env` replace themselves with the command, so the id is the command's own. A process
// inherits which signals are ignored: where the tests run in the background of a shell, SIGINT is, and nothing could interrupt the command.
// Every wait has a limit; past it the process is killed and the test fails with what the process had said.
internal sealed class NodeProcess : IDisposable
{
    public static readonly TimeSpan Patience = TimeSpan.FromSeconds(120);
    private const int LinesReported = 40;
    private readonly Process _process;
    private readonly string _command;

    private NodeProcess(NetworkNamespaces network, int node, string[] variables, string file, IEnumerable<string> arguments)
    {
        _command = $"node {node}: {Path.GetFileName(file)} {string.Join(' ', arguments.Take(12))}";
        string[] command = ["netns", "exec", network.Name(node), "env", "--default-signal=HUP,INT,QUIT", .. variables, file, .. arguments];
        var start = new ProcessStartInfo(IpCommand.FullPath, command)
        {
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        _process = Process.Start(start)!;
        Output = new OutputCapture(_process.StandardOutput.BaseStream, _command + " output");
        Errors = new OutputCapture(_process.StandardError.BaseStream, _command + " errors");
    }

    public int Id => _process.Id;

    public OutputCapture Output { get; }

    public OutputCapture Errors { get; }

    public bool HasExited => _process.HasExited;

    // The network is of this test alone, so it needs no protection unless a scenario is about that.
    public static NodeProcess Start(NetworkNamespaces network, int node, string file, params IEnumerable<string> arguments) =>
        new(network, node, ["QS_SECURITY=none"], file, [.. arguments]);

    /// <summary>Starts a process with the secret in a file.</summary>
    public static NodeProcess StartWithSecret(
        NetworkNamespaces network, int node, string secretFile, string file, params IEnumerable<string> arguments) =>
        new(network, node, ["QS_SECURITY=" + secretFile], file, [.. arguments]);

    /// <summary>Starts a process with the certificate and its key in a file.</summary>
    public static NodeProcess StartWithCertificate(
        NetworkNamespaces network,
        int node,
        (string Certificate, string Authority) files,
        string file,
        params IEnumerable<string> arguments) =>
        new(network, node, ["QS_SECURITY=" + files.Certificate, "QS_AUTHORITY=" + files.Authority], file, [.. arguments]);

    /// <summary>Writes to standard input; returns when the process has taken it into its pipe.</summary>
    public void Feed(string text)
    {
        var bytes = Encoding.UTF8.GetBytes(text);
        var input = _process.StandardInput.BaseStream;
        var write = Task.Run(() =>
        {
            input.Write(bytes);
            input.Flush();
        });
        if (!WaitQuietly(write))
        {
            Fail("did not read its input");
        }
    }

    public void CloseInput() => _process.StandardInput.Close();

    public void WaitForOutput(Func<OutputCapture, bool> condition, string what) => WaitFor(Output, condition, what);

    public void WaitForErrors(Func<OutputCapture, bool> condition, string what) => WaitFor(Errors, condition, what);

    public void Send(ProcessSignal signal)
    {
        if (!_process.HasExited)
        {
            _ = Linux.Kill(_process.Id, (int)signal);
        }
    }

    /// <summary>Waits for the end and for the last of the output; returns the exit code.</summary>
    public int WaitForExit()
    {
        if (!_process.WaitForExit(Patience) || !Output.WaitForEnd(Patience) || !Errors.WaitForEnd(Patience))
        {
            Fail($"did not end within {Patience.TotalSeconds} s");
        }

        return _process.ExitCode;
    }

    public void ExpectExit(int code)
    {
        var actual = WaitForExit();
        if (actual != code)
        {
            Fail($"ended with {actual} instead of {code}");
        }
    }

    public string Report() =>
        $"""
        {_command}
        --- last of standard output ({Output.LineCount} lines)
        {Output.Tail(LinesReported)}
        --- last of standard error ({Errors.LineCount} lines)
        {Errors.Tail(LinesReported)}
        """;

    public void Dispose()
    {
        Send(ProcessSignal.Kill);
        _process.WaitForExit(Patience);
        _process.Dispose();
    }

    private static bool WaitQuietly(Task task)
    {
        try
        {
            return task.Wait(Patience);
        }
        catch (AggregateException)
        {
            return false;
        }
    }

    private void WaitFor(OutputCapture capture, Func<OutputCapture, bool> condition, string what)
    {
        if (!capture.WaitUntil(condition, Patience))
        {
            // The end of a stream comes a moment before that of its process.
            var hasExited = capture.HasEnded ? _process.WaitForExit(Patience) : _process.HasExited;
            Fail((hasExited ? $"ended with {_process.ExitCode} before " : "was waited for in vain: ") + what);
        }
    }

    private void Fail(string what)
    {
        Send(ProcessSignal.Kill);
        Assert.Fail($"{what}\n{Report()}");
    }
}

internal enum ProcessSignal
{
    Interrupt = 2,
    Kill = 9,
    User1 = 10,
    Terminate = 15,
    Continue = 18,
    Stop = 19,
}
