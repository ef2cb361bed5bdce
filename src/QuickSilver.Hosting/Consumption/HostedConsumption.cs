using QuickSilver.Core.Background;
using QuickSilver.Endpoints.Consumers;

namespace QuickSilver.Hosting.Consumption;

// A consumer of a topic of the host. It outlives an expelled node: it begins on the next one when it has handled what the last one had
// delivered, so that no more messages are handled at a time than its options allow.
internal sealed class HostedConsumption<T>(
    Func<Message<T>, CancellationToken, ValueTask> consumer,
    ConsumerOptions<T> options,
    Action<HostedConsumption<T>> detach,
    Action<Exception> onEndFault)
    : IAttachment<T>, IConsumption
{
    private readonly Lock _lock = new();
    private readonly TaskCompletionSource<SubscriptionEnd> _completion = new(SoleThreadContext.Completions);
    private readonly ConsumerOptions<T> _options = options.Copy(static own => own.OnEnded = null);
    private IConsumption? _current;
    // Whether it begins on no other node.
    private bool _isLast;
    private bool _isFinished;
    private Counts _before;

    /// <summary>Whose name the health check gives.</summary>
    public Type? Type { get; init; }

    /// <summary>Disposed when the consumer has ended.</summary>
    public IAsyncDisposable? Resources { get; init; }

    /// <summary>Reads the clock of the host.</summary>
    public required Func<DateTimeOffset> Now { get; init; }

    /// <summary>When it ended. Valid after its completion.</summary>
    public DateTimeOffset EndedAt { get; private set; }

    public Task<SubscriptionEnd> Completion => _completion.Task;

    public long Handled => Read().Handled;

    public long Retried => Read().Retried;

    public long Skipped => Read().Skipped;

    public long Failed => Read().Failed;

    public long Abandoned => Read().Abandoned;

    /// <summary>Why it stopped, if it failed.</summary>
    public Exception? Fault => _completion.Task is { IsCompletedSuccessfully: true, Result.Error: { } error } ? error : null;

    public void Attach(ITopic<T> topic)
    {
        lock (_lock)
        {
            if (_isLast)
            {
                return;
            }

            if (_current is { Completion.IsCompleted: false } previous)
            {
                _ = Detached.Begin(() => FollowAsync(previous, topic));
            }
            else
            {
                Begin(topic);
            }
        }
    }

    public async Task StopAsync(CancellationToken cancellationToken = default)
    {
        var current = EndWithCurrent();
        bool isInside = IsInside(current);
        if (current is not null)
        {
            await current.StopAsync(cancellationToken).ConfigureAwait(SoleThreadContext.IsCurrent);
        }

        if (!isInside)
        {
            await Completion.WaitAsync(cancellationToken).ConfigureAwait(SoleThreadContext.IsCurrent);
        }
    }

    /// <summary>Like StopAsync. False if the token was cancelled before.</summary>
    public async Task<bool> TryStopAsync(CancellationToken cancellationToken)
    {
        try
        {
            await StopAsync(cancellationToken).ConfigureAwait(SoleThreadContext.IsCurrent);
            return true;
        }
        catch (OperationCanceledException)
        {
            return false;
        }
    }

    public void Dispose() => EndWithCurrent()?.Dispose();

    public async ValueTask DisposeAsync()
    {
        var current = EndWithCurrent();
        bool isInside = IsInside(current);
        if (current is not null)
        {
            await current.DisposeAsync().ConfigureAwait(SoleThreadContext.IsCurrent);
        }

        if (!isInside)
        {
            await Completion.ConfigureAwait(SoleThreadContext.IsCurrent);
        }
    }

    /// <summary>There will be no other node.</summary>
    public void OnHostStopped() => EndWithCurrent();

    // A call of the consumer that waited for the end would wait for itself, and so would its OnEnded.
    private bool IsInside(IConsumption? current) => ConsumerCallScope.IsInside(current) || ConsumerCallScope.IsInside(this);

    private IConsumption? EndWithCurrent()
    {
        detach(this);
        IConsumption? current;
        lock (_lock)
        {
            _isLast = true;
            current = _current;
        }

        if (current is null)
        {
            _ = FinishAsync(new SubscriptionEnd(SubscriptionEndReason.Disposed, null));
        }

        return current;
    }

    // Under the lock.
    private void Begin(ITopic<T> topic)
    {
        _current = topic.Subscribe(consumer, _options);
        _ = Detached.Begin(() => WatchAsync(_current));
    }

    private async Task FollowAsync(IConsumption previous, ITopic<T> topic)
    {
        await previous.Completion.ConfigureAwait(SoleThreadContext.IsCurrent);
        lock (_lock)
        {
            if (_isLast || _current is { Completion.IsCompleted: false })
            {
                return;
            }

            try
            {
                Begin(topic);
            }
            catch (Exception exception) when (exception is QuickSilverException or InvalidOperationException)
            {
                // This node has ended too. The next one attaches it.
            }
        }
    }

    private async Task WatchAsync(IConsumption current)
    {
        var end = await current.Completion.ConfigureAwait(SoleThreadContext.IsCurrent);
        bool isLast;
        lock (_lock)
        {
            _before += Counts.Of(current);
            _current = _current == current ? null : _current;
            _isLast |= end.Reason is not (SubscriptionEndReason.NodeExpelled or SubscriptionEndReason.NodeStopped);
            isLast = _isLast;
        }

        if (isLast)
        {
            await FinishAsync(end).ConfigureAwait(SoleThreadContext.IsCurrent);
        }
    }

    private async Task FinishAsync(SubscriptionEnd end)
    {
        detach(this);
        if (Interlocked.Exchange(ref _isFinished, true))
        {
            return;
        }

        try
        {
            new ConsumerCallScope(this).Run(_ => options.OnEnded?.Invoke(end), this);
            if (Resources is { } resources)
            {
                await resources.DisposeAsync().ConfigureAwait(SoleThreadContext.IsCurrent);
            }
        }
        catch (Exception exception)
        {
            onEndFault(exception);
        }

        EndedAt = Now();
        _completion.TrySetResult(end);
    }

    private Counts Read()
    {
        lock (_lock)
        {
            return _current is null ? _before : _before + Counts.Of(_current);
        }
    }

    private readonly record struct Counts(long Handled, long Retried, long Skipped, long Failed, long Abandoned)
    {
        public static Counts Of(IConsumption one) => new(one.Handled, one.Retried, one.Skipped, one.Failed, one.Abandoned);

        public static Counts operator +(Counts a, Counts b) => new(
            a.Handled + b.Handled, a.Retried + b.Retried, a.Skipped + b.Skipped, a.Failed + b.Failed, a.Abandoned + b.Abandoned);
    }
}
