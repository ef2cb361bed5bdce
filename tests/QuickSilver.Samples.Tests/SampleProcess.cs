using System.Diagnostics;
using System.Threading.Channels;

namespace QuickSilver.Samples.Tests;

// A sample that runs. Its cluster has a name of its own, so that tests that run at the same time do not meet.
internal sealed class SampleProcess : IAsyncDisposable
{
    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(2);

    private readonly Process _process;
    private readonly Channel<string> _lines = Channel.CreateUnbounded<string>();
    private readonly List<string> _read = [];

    public SampleProcess(string sample, params string[] arguments)
    {
        string folder = Path.GetFileName(AppContext.BaseDirectory.TrimEnd(Path.DirectorySeparatorChar));
        string path = Path.GetFullPath(Path.Combine(AppContext.BaseDirectory, "..", "..", sample, folder, $"{sample}.dll"));
        var start = new ProcessStartInfo("dotnet")
        {
            RedirectStandardOutput = true,
            RedirectStandardError = true,
            UseShellExecute = false,
        };
        foreach (string argument in (string[])[path, .. arguments])
        {
            start.ArgumentList.Add(argument);
        }

        _process = new Process { StartInfo = start };
        _process.OutputDataReceived += (_, line) => Add(line.Data);
        _process.ErrorDataReceived += (_, line) => Add(line.Data);
        _process.Start();
        _process.BeginOutputReadLine();
        _process.BeginErrorReadLine();
    }

    /// <summary>The first line from now on with this text.</summary>
    public async Task<string> ReadAsync(string text)
    {
        using var limit = new CancellationTokenSource(Patience);
        try
        {
            while (true)
            {
                string line = await _lines.Reader.ReadAsync(limit.Token);
                _read.Add(line);
                if (line.Contains(text, StringComparison.Ordinal))
                {
                    return line;
                }
            }
        }
        catch (OperationCanceledException)
        {
            throw new InvalidOperationException($"The sample did not write \"{text}\". It wrote:\n{string.Join('\n', _read)}");
        }
    }

    /// <summary>Waits for the end of a sample that ends by itself. Returns what it wrote.</summary>
    public async Task<string[]> EndAsync()
    {
        using var limit = new CancellationTokenSource(Patience);
        await _process.WaitForExitAsync(limit.Token);
        _lines.Writer.Complete();
        while (_lines.Reader.TryRead(out string? line))
        {
            _read.Add(line);
        }

        Assert.True(_process.ExitCode == 0, $"The sample ended with {_process.ExitCode}:\n{string.Join('\n', _read)}");
        return [.. _read];
    }

    /// <summary>Ends a sample as a service's host would.</summary>
    public async Task<string[]> StopAsync()
    {
        using var kill = Process.Start("kill", ["-TERM", $"{_process.Id}"]);
        await kill.WaitForExitAsync();
        return await EndAsync();
    }

    public ValueTask DisposeAsync()
    {
        if (!_process.HasExited)
        {
            _process.Kill(entireProcessTree: true);
        }

        _process.Dispose();
        return ValueTask.CompletedTask;
    }

    private void Add(string? line)
    {
        if (line is not null)
        {
            _lines.Writer.TryWrite(line);
        }
    }
}
