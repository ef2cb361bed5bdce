using System.Diagnostics;
using System.Net;
using System.Text.Json;
using QuickSilver.Tool.Commands;
using QuickSilver.Tool.Sessions;

namespace QuickSilver.Tool.Demo;

// A node of the demo, as its parent sees it.
internal sealed class DemoProcess : IDisposable
{
    private readonly Process _process;
    private readonly Task _reading;
    private readonly Task<string> _errors;
    private volatile DemoStatus _status = new("");

    private DemoProcess(int number, Process process)
    {
        Number = number;
        _process = process;
        _reading = ReadAsync();
        _errors = process.StandardError.ReadToEndAsync();
    }

    public int Number { get; }

    public int Id => _process.Id;

    public bool IsKilled { get; private set; }

    /// <summary>The last that it has said.</summary>
    public DemoStatus Status => _status;

    public bool HasEnded => _process.HasExited;

    public static DemoProcess Start(int number, IPEndPoint service, string cluster, double rate)
    {
        // As a tool it runs by itself; from its build it may run in the process of dotnet.
        string program = Environment.ProcessPath
            ?? throw new ToolException(ExitCode.Failed, "The path of this program is not known, so it cannot start nodes.");
        bool isDotnet = Path.GetFileNameWithoutExtension(program) == "dotnet";
        var start = new ProcessStartInfo(program)
        {
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        string[] arguments =
        [
            DemoCommand.NodeName, "--gms", $"{service}", "--cluster", cluster, "--rate", FormattableString.Invariant($"{rate}"),
            DemoCommand.NumberName, FormattableString.Invariant($"{number}"),
        ];
        foreach (string argument in isDotnet ? [Path.Combine(AppContext.BaseDirectory, "qsm.dll"), .. arguments] : arguments)
        {
            start.ArgumentList.Add(argument);
        }

        return new DemoProcess(number, Process.Start(start)!);
    }

    public void Say(string line)
    {
        _process.StandardInput.WriteLine(line);
        _process.StandardInput.Flush();
    }

    /// <summary>Ends the process as a crash would: it has no time to say anything.</summary>
    public void Kill()
    {
        IsKilled = true;
        _process.Kill();
        _process.WaitForExit();
    }

    /// <summary>What the process had to say on its end.</summary>
    public async Task<string> ErrorsAsync()
    {
        await _reading;
        return (await _errors).Trim();
    }

    public void Dispose()
    {
        if (!_process.HasExited)
        {
            _process.Kill();
            _process.WaitForExit();
        }

        _process.Dispose();
    }

    private async Task ReadAsync()
    {
        try
        {
            while (await _process.StandardOutput.ReadLineAsync() is { } line)
            {
                _status = DemoStatus.Of(line) ?? _status;
            }
        }
        catch (JsonException)
        {
            // The last line of a process that was killed is cut off.
        }
    }
}
