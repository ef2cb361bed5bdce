using System.Diagnostics;
using QuickSilver;
using Serilog;
using Serilog.Events;
using Serilog.Extensions.Logging;

namespace FlightBoard.Roles;

// What both roles share: a node on the loopback interface with embedded membership, a log on standard error, a status
// line four times a second, and an end when the board says so or is gone.
internal sealed class ChildRun : IAsyncDisposable
{
    private const string Repairs = "quicksilver.repairs";
    private const string KernelDrops = "quicksilver.kernel.drops";
    private static readonly TimeSpan StatusInterval = TimeSpan.FromMilliseconds(250);

    private readonly SerilogLoggerFactory _logs;
    private readonly CancellationTokenSource _stop = new();
    private readonly MeterFigures _figures = new(Repairs, KernelDrops);
    private long _lastCount;
    private long _mostRegions;
    private long _lastTicks = Stopwatch.GetTimestamp();

    private ChildRun(SerilogLoggerFactory logs, QuickSilverNode node)
    {
        _logs = logs;
        Node = node;
        _ = Task.Run(WatchBoardAsync);
    }

    public QuickSilverNode Node { get; }

    /// <summary>Cancelled when the board wants this process to end.</summary>
    public CancellationToken Stop => _stop.Token;

    public static async Task<ChildRun> StartAsync(string cluster)
    {
        var logs = new SerilogLoggerFactory(
            new LoggerConfiguration()
                .MinimumLevel.Is(LogEventLevel.Warning)
                .WriteTo.Console(standardErrorFromLevel: LogEventLevel.Verbose)
                .CreateLogger(),
            dispose: true);
        return new ChildRun(logs, await QuickSilverNode.StartAsync(new QuickSilverOptions { Cluster = cluster }, logs));
    }

    /// <summary>Prints the status that <paramref name="take"/> gives until the end, and a last time then.</summary>
    public async Task ReportUntilStoppedAsync(Func<ProcessStatus> take)
    {
        while (!Stop.IsCancellationRequested)
        {
            Complete(take()).Print();
            try
            {
                await Task.Delay(StatusInterval, Stop);
            }
            catch (OperationCanceledException)
            {
                // Said by the loop's condition.
            }
        }

        Complete(take()).Print();
    }

    public async ValueTask DisposeAsync()
    {
        _figures.Dispose();
        await Node.DisposeAsync();
        _logs.Dispose();
        _stop.Dispose();
    }

    private ProcessStatus Complete(ProcessStatus status)
    {
        long ticks = Stopwatch.GetTimestamp();
        double perSecond = (status.Count - _lastCount) / Stopwatch.GetElapsedTime(_lastTicks, ticks).TotalSeconds;
        (_lastCount, _lastTicks) = (status.Count, ticks);
        _figures.Read();
        return status with
        {
            PerSecond = perSecond,
            Regions = _mostRegions = Math.Max(_mostRegions, Node.GetGauges().Regions),
            Repairs = _figures[Repairs],
            KernelDrops = _figures[KernelDrops],
            DatagramPath = Node.Status.DatagramPath,
        };
    }

    // A line on standard input is the word to end; its end means that the board is gone.
    private async Task WatchBoardAsync()
    {
        await Console.In.ReadLineAsync();
        await _stop.CancelAsync();
    }
}
