using System.Collections.Concurrent;
using System.Diagnostics;
using System.Globalization;

namespace QuickSilver.Campaign.Contenders;

/// <summary>A line of a program, and when it was read.</summary>
internal readonly record struct StampedLine(long Ticks, string Text);

/// <summary>How a program ended: a code of -1 when it had to be killed. Ticks are those of <see cref="Stopwatch"/>.</summary>
internal sealed record Ended(int Code, string Output, IReadOnlyList<StampedLine> ErrorLines, long FirstLineTicks)
{
    public string Errors => string.Join('\n', ErrorLines.Select(line => line.Text));

    public string Reason => $"exit {Code}: {(Errors.Trim().Length > 0 ? Errors : Output).Trim().Split('\n')[^1]}";
}

// A program and all that it said, with an end in any case.
internal sealed class Shell : IDisposable
{
    private static readonly TimeSpan SignalLimit = TimeSpan.FromSeconds(5);
    private static readonly TimeSpan LookInterval = TimeSpan.FromMilliseconds(20);
    private static readonly ConcurrentDictionary<Shell, bool> Living = [];

    private readonly Process _process;
    private readonly Task<string> _output;
    private readonly Task _errors;
    private readonly List<StampedLine> _errorLines = [];
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
        _errors = ReadErrorsAsync();
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

    public int Id => _process.Id;

    /// <summary>The first line of standard error that begins so, or null if the program ends or the time is over before.</summary>
    public StampedLine? WaitForError(string beginning, TimeSpan limit)
    {
        long start = Stopwatch.GetTimestamp();
        while (true)
        {
            bool isEnd = _errors.IsCompleted || Stopwatch.GetElapsedTime(start) > limit;
            lock (_errorLines)
            {
                int found = _errorLines.FindIndex(line => line.Text.StartsWith(beginning, StringComparison.Ordinal));
                if (found >= 0 || isEnd)
                {
                    return found >= 0 ? _errorLines[found] : null;
                }
            }

            Thread.Sleep(LookInterval);
        }
    }

    public Ended Wait(TimeSpan limit)
    {
        bool ended = _process.WaitForExit(limit);
        if (!ended)
        {
            Kill();
            _process.WaitForExit();
        }

        string output = _output.Result;
        _errors.Wait();
        return new Ended(ended ? _process.ExitCode : -1, output, _errorLines, _firstLineTicks);
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

    private async Task ReadErrorsAsync()
    {
        while (await _process.StandardError.ReadLineAsync() is { } text)
        {
            lock (_errorLines)
            {
                _errorLines.Add(new StampedLine(Stopwatch.GetTimestamp(), text));
            }
        }
    }
}
