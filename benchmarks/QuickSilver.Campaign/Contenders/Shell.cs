using System.Collections.Concurrent;
using System.Diagnostics;
using System.Globalization;

namespace QuickSilver.Campaign.Contenders;

/// <summary>How a program ended: a code of -1 when it had to be killed. Ticks are those of <see cref="Stopwatch"/>.</summary>
internal sealed record Ended(int Code, string Output, string Errors, long FirstLineTicks)
{
    public string Reason => $"exit {Code}: {(Errors.Trim().Length > 0 ? Errors : Output).Trim().Split('\n')[^1]}";
}

// A program and all that it said, with an end in any case.
internal sealed class Shell : IDisposable
{
    private static readonly TimeSpan SignalLimit = TimeSpan.FromSeconds(5);
    private static readonly ConcurrentDictionary<Shell, bool> Living = [];

    private readonly Process _process;
    private readonly Task<string> _output;
    private readonly Task<string> _errors;
    private long _firstLineTicks;

    public Shell(string file, IEnumerable<string> arguments, params IEnumerable<(string Name, string Value)> environment)
    {
        var start = new ProcessStartInfo(file, arguments) { RedirectStandardOutput = true, RedirectStandardError = true };
        foreach (var (name, value) in environment)
        {
            start.Environment[name] = value;
        }

        _process = Process.Start(start)!;
        Living[this] = true;
        _output = ReadAsync();
        _errors = _process.StandardError.ReadToEndAsync();
    }

    /// <summary>Kills all that run, from any thread; who waits for one sees it end.</summary>
    public static void EndAll()
    {
        foreach (var shell in Living.Keys)
        {
            shell.Kill();
        }
    }

    public bool IsRunning => !_process.HasExited;

    public Ended Wait(TimeSpan limit)
    {
        bool ended = _process.WaitForExit(limit);
        if (!ended)
        {
            Kill();
            _process.WaitForExit();
        }

        return new Ended(ended ? _process.ExitCode : -1, _output.Result, _errors.Result, _firstLineTicks);
    }

    /// <summary>Asks the program to end, as a user does.</summary>
    public void Interrupt()
    {
        using var kill = new Shell("kill", ["-INT", _process.Id.ToString(CultureInfo.InvariantCulture)]);
        kill.Wait(SignalLimit);
    }

    public void Dispose()
    {
        Living.TryRemove(this, out _);
        Kill();
        _process.Dispose();
    }

    private void Kill()
    {
        if (!_process.HasExited)
        {
            _process.Kill(entireProcessTree: true);
        }
    }

    private async Task<string> ReadAsync()
    {
        string? first = await _process.StandardOutput.ReadLineAsync();
        _firstLineTicks = Stopwatch.GetTimestamp();
        return $"{first}\n{await _process.StandardOutput.ReadToEndAsync()}";
    }
}
