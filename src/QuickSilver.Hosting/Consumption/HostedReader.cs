using QuickSilver.Core.Background;
using QuickSilver.Endpoints;

namespace QuickSilver.Hosting.Consumption;

// A reader of a topic of the host. It begins when the topic is open, however many attempts to open it fail before. It ends with its node,
// or in order when the host stops: its endpoint leaves the topic, and the reader reads what was acknowledged. Thread-safe.
internal sealed class HostedReader<T>(Action<HostedReader<T>> detach) : IAttachment<T>, IDisposable
{
    private readonly TaskCompletionSource<TopicEndpoint<T>?> _begin = new(SoleThreadContext.Completions);
    private readonly TaskCompletionSource _end = new(SoleThreadContext.Completions);

    /// <summary>
    /// Whether it came when the readers of the host had been asked to end. It gets no endpoint. If it ended at once, code that reads in a
    /// loop until its token is cancelled would run without a pause.
    /// </summary>
    public bool IsLate { get; init; }

    /// <summary>Completes with the endpoint to read; with null if there is none before the host stops.</summary>
    public Task<TopicEndpoint<T>?> Begin => _begin.Task;

    public void Attach(ITopic<T> topic)
    {
        if (!IsLate)
        {
            _begin.TrySetResult((TopicEndpoint<T>)topic);
        }
    }

    /// <summary>
    /// Ends it after what was acknowledged for it. False if the token was cancelled before: what is left is then dropped and reported.
    /// </summary>
    public async Task<bool> TryStopAsync(CancellationToken cancellationToken)
    {
        _begin.TrySetResult(null);
        var endpoint = await _begin.Task.ConfigureAwait(SoleThreadContext.IsCurrent);
        if (endpoint is not null)
        {
            // The reader comes to its end when the topic was left.
            _ = endpoint.LeaveAsync();
        }

        try
        {
            await _end.Task.WaitAsync(cancellationToken).ConfigureAwait(SoleThreadContext.IsCurrent);
            return true;
        }
        catch (OperationCanceledException) when (endpoint is not null)
        {
            await endpoint.LeaveNowAsync().ConfigureAwait(SoleThreadContext.IsCurrent);
            endpoint.DropUnread();
            return false;
        }
        catch (OperationCanceledException)
        {
            return false;
        }
    }

    /// <summary>There will be no other node.</summary>
    public void OnHostStopped() => _begin.TrySetResult(null);

    public void Dispose()
    {
        detach(this);
        _end.TrySetResult();
    }
}
