using System.Diagnostics;
using System.Globalization;

namespace TradingFloor;

// A trader as the floor sees it: its process, and what it last said of itself.
internal sealed class TraderProcess : IDisposable
{
    private readonly Process _process;
    private readonly TaskCompletionSource _ready = new(TaskCreationOptions.RunContinuationsAsynchronously);

    public TraderProcess(string cluster, string name, int seed, string bookFile)
    {
        Name = name;
        BookFile = bookFile;
        string[] arguments = ["trader", cluster, name, seed.ToString(CultureInfo.InvariantCulture), bookFile];
        var start = new ProcessStartInfo(Environment.ProcessPath!)
        {
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
        };
        // The program itself, or the host that runs it.
        if (Path.GetFileNameWithoutExtension(start.FileName) == "dotnet")
        {
            start.ArgumentList.Add(typeof(TraderProcess).Assembly.Location);
        }

        foreach (string argument in arguments)
        {
            start.ArgumentList.Add(argument);
        }

        _process = new Process { StartInfo = start };
        _process.OutputDataReceived += (_, line) => Read(line.Data);
        _process.Start();
        _process.BeginOutputReadLine();
    }

    public string Name { get; }

    public string BookFile { get; }

    /// <summary>Completes when the trader is a member and has said how it is.</summary>
    public Task Ready => _ready.Task;

    public TraderStatus Status { get; private set; }

    public bool IsRunning => !_process.HasExited;

    public void Kill() => _process.Kill();

    public void Ring()
    {
        _process.StandardInput.WriteLine("bell");
        _process.StandardInput.Flush();
    }

    public async Task<bool> EndsWithinAsync(TimeSpan limit)
    {
        using var end = new CancellationTokenSource(limit);
        try
        {
            await _process.WaitForExitAsync(end.Token);
            return _process.ExitCode == 0;
        }
        catch (OperationCanceledException)
        {
            return false;
        }
    }

    public void Dispose()
    {
        if (IsRunning)
        {
            _process.Kill();
        }

        _process.Dispose();
    }

    private void Read(string? line)
    {
        if (line?.Split(' ') is ["status", var view, var rank, var members, var orders, var trades])
        {
            Status = new TraderStatus(Number(view), (int)Number(rank), (int)Number(members), Number(orders), Number(trades));
            _ready.TrySetResult();
        }
    }

    private static long Number(string text) => long.Parse(text, CultureInfo.InvariantCulture);
}

// What a trader has seen: its view, its rank in it, and its book.
internal readonly record struct TraderStatus(long View, int Rank, int Members, long Orders, long Trades);
