using System.Diagnostics;
using System.Text.RegularExpressions;
using System.Threading.Channels;

namespace QuickSilver.Packages.Tests.Infrastructure;

// A program that was built before, while it runs. It is killed when it is disposed: most programs run forever.
internal sealed class RunningProgram : IAsyncDisposable
{
    // So that a test that would hang fails. Programs write after a second or two.
    private static readonly TimeSpan Limit = TimeSpan.FromMinutes(1);

    private readonly Process _process;
    private readonly Channel<string> _lines = Channel.CreateUnbounded<string>();
    private readonly List<string> _written = [];
    private readonly Task _reading;

    private RunningProgram(Process process)
    {
        _process = process;
        _reading = Task.WhenAll(ReadAsync(process.StandardOutput), ReadAsync(process.StandardError));
        _ = _reading.ContinueWith(_ => _lines.Writer.TryComplete(), TaskScheduler.Default);
    }

    /// <summary>What it has written so far.</summary>
    public IReadOnlyList<string> Lines
    {
        get
        {
            lock (_written)
            {
                return [.. _written];
            }
        }
    }

    public static RunningProgram Start(string folder, string file, params string[] arguments) =>
        new(Process.Start(new ProcessStartInfo(file, arguments)
        {
            WorkingDirectory = folder,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        })!);

    /// <summary>The next line in which the pattern is found. Lines before it are passed over.</summary>
    public async Task<Match> NextAsync(string pattern)
    {
        using var stop = new CancellationTokenSource(Limit);
        try
        {
            await foreach (string line in _lines.Reader.ReadAllAsync(stop.Token))
            {
                if (Regex.Match(line, pattern) is { Success: true } match)
                {
                    return match;
                }
            }
        }
        catch (OperationCanceledException)
        {
        }

        throw new TimeoutException($"{this} has not written what '{pattern}' matches. It wrote:\n{Written()}");
    }

    /// <summary>Waits until the program has ended by itself, with 0.</summary>
    public async Task EndAsync()
    {
        using var stop = new CancellationTokenSource(Limit);
        await _process.WaitForExitAsync(stop.Token);
        await _reading;
        Assert.True(_process.ExitCode == 0, $"{this} ended with {_process.ExitCode}:\n{Written()}");
    }

    public async ValueTask DisposeAsync()
    {
        _process.Kill(entireProcessTree: true);
        await _process.WaitForExitAsync();
        await _reading;
        _process.Dispose();
    }

    public override string ToString() => $"{_process.StartInfo.FileName} {string.Join(' ', _process.StartInfo.ArgumentList)}";

    private async Task ReadAsync(StreamReader reader)
    {
        while (await reader.ReadLineAsync() is { } line)
        {
            lock (_written)
            {
                _written.Add(line);
            }

            await _lines.Writer.WriteAsync(line);
        }
    }

    private string Written() => string.Join('\n', Lines);
}
