using System.Collections.Concurrent;
using System.Diagnostics;
using FlightBoard.Roles;

namespace FlightBoard.Board;

// A process of this same program in a role, as the board sees it: its last status, and what it logged.
internal sealed class RoleProcess : IDisposable
{
    // Enough to see what went wrong; a process that logs without end must not fill the board's memory.
    private const int MaxLogLines = 50;

    private readonly Process _process;
    private readonly ConcurrentQueue<string> _log = new();
    private volatile ProcessStatus _status = new();

    public RoleProcess(string name, params string[] arguments)
    {
        Name = name;
        string program = Environment.ProcessPath!;
        bool isHosted = Path.GetFileNameWithoutExtension(program) == "dotnet";
        var start = new ProcessStartInfo(program, isHosted ? [typeof(RoleProcess).Assembly.Location, .. arguments] : arguments)
        {
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        _process = new Process { StartInfo = start };
        _process.OutputDataReceived += (_, line) => OnOutput(line.Data);
        _process.ErrorDataReceived += (_, line) => OnLog(line.Data);
        _process.Start();
        _process.BeginOutputReadLine();
        _process.BeginErrorReadLine();
    }

    public string Name { get; }

    public ProcessStatus Status => _status;

    public IEnumerable<string> Log => _log;

    public bool HasExited => _process.HasExited;

    public void AskToStop()
    {
        try
        {
            _process.StandardInput.WriteLine("stop");
            _process.StandardInput.Close();
        }
        catch (IOException)
        {
            // It has ended already.
        }
    }

    /// <summary>The exit code, once all of the output was read; null when it has not ended in time, and is killed.</summary>
    public async Task<int?> WaitForExitAsync(TimeSpan limit)
    {
        using var expired = new CancellationTokenSource(limit);
        try
        {
            await _process.WaitForExitAsync(expired.Token);
            return _process.ExitCode;
        }
        catch (OperationCanceledException)
        {
            _process.Kill();
            return null;
        }
    }

    public void Dispose()
    {
        if (!_process.HasExited)
        {
            _process.Kill();
        }

        _process.Dispose();
    }

    private void OnOutput(string? line)
    {
        if (line is null)
        {
            return;
        }

        if (ProcessStatus.Parse(line) is { } status)
        {
            _status = status;
        }
        else
        {
            OnLog(line);
        }
    }

    private void OnLog(string? line)
    {
        if (!string.IsNullOrWhiteSpace(line))
        {
            _log.Enqueue(line);
            if (_log.Count > MaxLogLines)
            {
                _log.TryDequeue(out _);
            }
        }
    }
}
