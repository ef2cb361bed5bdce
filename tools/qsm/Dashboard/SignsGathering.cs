using QuickSilver.Tool.Sessions;
using QuickSilver.Tool.Top;

namespace QuickSilver.Tool.Dashboard;

// Where answers come from. After an exception, it gives no more.
internal interface ISignsSource : IAsyncDisposable
{
    Task<ClusterTables> AskAsync(CancellationToken cancellationToken);
}

/// <param name="Watched">Between questions while a page is open.</param>
/// <param name="Unwatched">The same while none is: enough for a history.</param>
/// <param name="FirstRetry">After the first failure. Each further one doubles it, up to <paramref name="Unwatched"/>.</param>
internal sealed record GatheringPace(TimeSpan Watched, TimeSpan Unwatched, TimeSpan FirstRetry)
{
    public static GatheringPace Default { get; } =
        new(TimeSpan.FromSeconds(1), TimeSpan.FromSeconds(10), TimeSpan.FromSeconds(1));
}

// Asks the cluster again and again, once for all browsers, and sends them what comes. If the service cannot be reached, it says so and
// tries again. All but RunAsync may be called from any thread.
internal sealed class SignsGathering(
    Func<CancellationToken, Task<ISignsSource>> open,
    GatheringPace pace,
    SignsBroadcast broadcast,
    History history,
    Action<string> note)
{
    // The service needs up to a second for nodes that do not answer; the next question is not asked right behind.
    private static readonly TimeSpan LeastPause = TimeSpan.FromMilliseconds(200);

    private readonly Departures _departures = new(most: 50, TimeSpan.FromMinutes(10));
    private readonly SemaphoreSlim _wake = new(0, 1);
    private TaskCompletionSource _next = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private volatile PageSigns? _last;
    private volatile PageTrouble? _trouble;
    private long _askedAt;

    /// <summary>Why no signs come; null while they do.</summary>
    public PageTrouble? Trouble => _trouble;

    /// <summary>What is sent to a new browser: the past, and then the present.</summary>
    public IReadOnlyList<ReadOnlyMemory<byte>> Welcome()
    {
        var frames = new List<ReadOnlyMemory<byte>> { PageEvent.History(history.Points()) };
        if (_last is { } last)
        {
            frames.Add(PageEvent.Signs(last));
        }

        if (_trouble is { } trouble)
        {
            frames.Add(PageEvent.Trouble(trouble));
        }

        return frames;
    }

    /// <summary>Says that a page is open now, so that the next question need not wait for the pace of before.</summary>
    public void Wake()
    {
        try
        {
            _wake.Release();
        }
        catch (SemaphoreFullException)
        {
            // It is awake.
        }
    }

    /// <summary>The signs of the present, or null if there are none.</summary>
    public async Task<PageSigns?> ReadAsync(CancellationToken cancellationToken)
    {
        var next = Volatile.Read(ref _next).Task;
        if (_last is null || _trouble is not null || TimeProvider.System.GetElapsedTime(Volatile.Read(ref _askedAt)) > 2 * pace.Watched)
        {
            Wake();
            await next.WaitAsync(cancellationToken);
        }

        return _trouble is null ? _last : null;
    }

    /// <exception cref="ToolException">The first question has shown that the options are wrong, or was refused.</exception>
    public async Task RunAsync(CancellationToken cancellationToken)
    {
        ISignsSource? source = null;
        bool hasAnswered = false;
        var retry = pace.FirstRetry;
        try
        {
            while (true)
            {
                long start = TimeProvider.System.GetTimestamp();
                try
                {
                    source ??= await open(cancellationToken);
                    Announce(await source.AskAsync(cancellationToken));
                    hasAnswered = true;
                    retry = pace.FirstRetry;
                    await PauseAsync(start, cancellationToken);
                }
                catch (ToolException exception) when (hasAnswered || exception.ExitCode == ExitCode.Unreachable)
                {
                    await CloseAsync(source);
                    source = null;
                    Announce(exception.Message, retry);
                    await Task.Delay(retry, cancellationToken);
                    retry = retry * 2 < pace.Unwatched ? retry * 2 : pace.Unwatched;
                }
            }
        }
        finally
        {
            await CloseAsync(source);
        }
    }

    private static ValueTask CloseAsync(ISignsSource? source) => source?.DisposeAsync() ?? ValueTask.CompletedTask;

    private async Task PauseAsync(long start, CancellationToken cancellationToken)
    {
        bool isWatched = broadcast.Viewers > 0;
        var left = (isWatched ? pace.Watched : pace.Unwatched) - TimeProvider.System.GetElapsedTime(start);
        left = left > LeastPause ? left : LeastPause;
        await (isWatched ? Task.Delay(left, cancellationToken) : _wake.WaitAsync(left, cancellationToken));
    }

    private void Announce(ClusterTables tables)
    {
        var point = HistoryPoint.Of(tables);
        history.Add(point);
        var signs = new PageSigns(TopReport.Of(tables), point, Waits.Of(tables), _departures.Look(tables));
        _last = signs;
        _trouble = null;
        Volatile.Write(ref _askedAt, TimeProvider.System.GetTimestamp());
        if (broadcast.Viewers > 0)
        {
            broadcast.Send(PageEvent.Signs(signs));
        }

        EndRound();
    }

    private void Announce(string reason, TimeSpan retry)
    {
        if (_trouble is null)
        {
            note(reason);
        }

        var trouble = new PageTrouble(reason, retry.TotalSeconds);
        _trouble = trouble;
        broadcast.Send(PageEvent.Trouble(trouble));
        EndRound();
    }

    private void EndRound() => Interlocked.Exchange(
        ref _next, new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously)).TrySetResult();
}
