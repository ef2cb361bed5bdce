using QuickSilver.Diagnostics;
using QuickSilver.Endpoints.Publications;
using QuickSilver.Endpoints.Subscriptions;

namespace QuickSilver.Endpoints;

// What one caller has opened, independent of its payload type: a publishing half, a subscribing half or both, which live and end together.
//
// The three ways to end it: drain waits until accepted messages are stable, cancel drops them, and dispose drains for a moment and leaves
// the topic. Each returns even if a handler blocks the core thread: drain with its token, the others within their limits.
//
// There are thousands of idle endpoints, so each object has only the fields that most of them need.
internal abstract class TopicEndpoint(EndpointTopic topic, bool stampsTime = false)
{
    private static readonly TimeSpan DisposeDrainLimit = TimeSpan.FromMilliseconds(500);
    private static readonly TimeSpan DisposeLeaveLimit = TimeSpan.FromMilliseconds(250);
    // How long the count of what is dropped waits for publishers that are about to write into the lane: no encoding takes so long, unless a
    // codec hangs.
    private static readonly TimeSpan CommitLimit = TimeSpan.FromMilliseconds(100);

    // Null until the endpoint ends.
    private EndpointEnd? _end;
    private int _state;
    private volatile bool _hasPublished;
    private volatile bool _isOver;
    private volatile bool _isCancelled;

    public EndpointTopic Topic { get; } = topic;

    public string Name => Topic.Name;

    /// <summary>Null if the endpoint was opened to subscribe only.</summary>
    public TopicPublication? Publication { get; protected init; }

    /// <summary>Null if the endpoint was opened to publish only.</summary>
    public TopicSubscription? Subscription { get; protected init; }

    /// <summary>What the endpoint may do. It subscribes no more when it has left the topic in order.</summary>
    public TopicAccess Access => (Publishes ? TopicAccess.Publish : 0) | (Subscribes ? TopicAccess.Subscribe : 0);

    public bool Publishes => Publication is not null;

    public bool Subscribes => Subscription is { HasLeft: false };

    public EndpointState State => (EndpointState)Volatile.Read(ref _state);

    /// <summary>Whether published messages carry the time of publication.</summary>
    public bool StampsTime { get; } = stampsTime;

    /// <summary>From any thread: whether a message or a feed was ever accepted here.</summary>
    public bool HasPublished
    {
        get => _hasPublished;
        set => _hasPublished = value;
    }

    /// <summary>From any thread: whether the endpoint takes nothing more, although the topic may not have left it out yet.</summary>
    public bool IsOver => _isOver;

    public bool IsCancelled => _isCancelled;

    /// <summary>From any thread: why the endpoint has ended, by the first of its ends; null while it has not.</summary>
    public Exception? EndReason => Volatile.Read(ref _end) is { } end ? Volatile.Read(ref end.Reason) : null;

    /// <summary>After so long without the membership service, its messages are refused.</summary>
    public TimeSpan ServiceLossLimit => Publication?.ServiceLossLimit ?? TimeSpan.MaxValue;

    /// <summary>Links of the registry.</summary>
    internal TopicEndpoint? NextRegistered { get; set; }
    internal TopicEndpoint? PreviousRegistered { get; set; }

    private EndpointEnd End => LazyInitializer.EnsureInitialized(ref _end);

    /// <summary>
    /// Registers this endpoint to end when its node has ended, so that no caller waits forever for a core thread that a handler blocks.
    /// Called once, before the application gets the endpoint.
    /// </summary>
    public void EndWithNode() => Topic.Node.EndpointRegistry.Add(this);

    /// <exception cref="Exception">The endpoint was cancelled, has failed or was disposed of.</exception>
    public void CheckUsable()
    {
        switch (State)
        {
            case EndpointState.Open or EndpointState.Draining:
                return;
            case EndpointState.Cancelled:
                throw new InvalidOperationException($"This endpoint of the topic \"{Name}\" was cancelled. Open another one.");
            case EndpointState.Failed:
                throw Volatile.Read(ref End.Failure)!;
            default:
                throw AfterDispose.OfTopic(Name);
        }
    }

    /// <summary>From any thread; see <see cref="ITopicPublisher{T}.DrainAsync"/>.</summary>
    public Task DrainAsync(CancellationToken cancellationToken = default)
    {
        CheckUsable();
        if (cancellationToken.IsCancellationRequested)
        {
            return Task.FromCanceled(cancellationToken);
        }

        TryAdvance(EndpointState.Draining);
        return DrainUntilEndedAsync(cancellationToken);
    }

    /// <summary>From any thread: like DrainAsync, but an endpoint that the application has already ended has nothing to drain.</summary>
    public Task DrainWithNodeAsync(CancellationToken cancellationToken)
    {
        TryAdvance(EndpointState.Draining);
        return State is EndpointState.Cancelled or EndpointState.Disposed ? Task.CompletedTask : DrainUntilEndedAsync(cancellationToken);
    }

    public void Cancel()
    {
        if (TryAdvance(EndpointState.Cancelled))
        {
            _isCancelled = true;
            Stop(new OperationCanceledException($"This endpoint of the topic \"{Name}\" was cancelled."), readerError: null);
            // What comes until then is dropped as well.
            _ = Subscription?.LeaveAsync();
        }
    }

    /// <summary>Called from any thread when the endpoint cannot continue, because its node or its reader cannot.</summary>
    public void OnFailed(Exception reason)
    {
        // Before the state: a thread that sees the state Failed finds the reason, also if the endpoint was cancelled before.
        Interlocked.CompareExchange(ref End.Failure, reason, null);
        if (TryAdvance(EndpointState.Failed))
        {
            Stop(reason, reason);
        }
        else if (State == EndpointState.Disposed && !_isOver)
        {
            // It still drains, and what it would report after that, no core thread may take any more.
            Stop(reason, readerError: null);
        }

        if (Topic.Node.Ended.IsCancellationRequested)
        {
            // The core thread will not notify the feeds.
            Publication?.EndFeeds(reason, isFailure: true);
            Subscription?.EndReading();
        }
    }

    public ValueTask DisposeAsync()
    {
        var end = End;
        var disposal = Volatile.Read(ref end.Disposal);
        if (disposal is null)
        {
            var begun = new TaskCompletionSource(Topic.Node.Completions);
            disposal = Interlocked.CompareExchange(ref end.Disposal, begun.Task, null);
            if (disposal is null)
            {
                _ = DisposeOnceAsync(begun);
                disposal = begun.Task;
            }
        }

        return new ValueTask(disposal);
    }

    /// <summary>From any thread: completes when a reader or consumer has read what it may still read; at once if there is none.</summary>
    public Task WhenRead() => Subscription?.WhenRead() ?? Task.CompletedTask;

    /// <summary>Whether the task completes within the limit, by the time outside the core thread.</summary>
    internal async Task<bool> Within(Task<bool> task, TimeSpan limit)
    {
        try
        {
            return await task.WaitAsync(limit, Topic.Node.OutsideTime).ConfigureAwait(Topic.Node.ResumesInContext);
        }
        catch (TimeoutException)
        {
            return false;
        }
    }

    private async Task DrainUntilEndedAsync(CancellationToken cancellationToken)
    {
        if (Publication is not { } publication)
        {
            return;
        }

        var over = WhenOver();
        // When a feed is detached, a message that it keeps joins the queue, before the marker.
        if (publication.DetachFeeds())
        {
            await UntilAsync(RunAsync(static () => { })).ConfigureAwait(Topic.Node.ResumesInContext);
        }

        if (!HasPublished)
        {
            return;
        }

        var drained = publication.WhenDrained();
        await UntilAsync(drained).ConfigureAwait(Topic.Node.ResumesInContext);
        if (!drained.IsCompleted || !await drained.ConfigureAwait(Topic.Node.ResumesInContext))
        {
            throw EndReason!;
        }

        Task UntilAsync(Task task) => Topic.Node.UntilEndedAsync(Task.WhenAny(task, over), cancellationToken);
    }

    // Invariant: the end sets its reason before it looks for this task, and this looks for the reason after it has made the task.
    private Task WhenOver()
    {
        var end = End;
        var over = LazyInitializer.EnsureInitialized(ref end.Over, () => new TaskCompletionSource(Topic.Node.Completions));
        if (EndReason is not null)
        {
            over.TrySetResult();
        }

        return over.Task;
    }

    private async Task<bool> DrainWithinAsync(TimeSpan within)
    {
        if (Publication is not { } publication)
        {
            return true;
        }

        if (publication.DetachFeeds()
            && !await Within(RunAsync(static () => { }), within).ConfigureAwait(Topic.Node.ResumesInContext))
        {
            return false;
        }

        return !HasPublished || await Within(publication.WhenDrained(), within).ConfigureAwait(Topic.Node.ResumesInContext);
    }

    // Runs the action on the core thread, after the actions that were passed to it before.
    private Task<bool> RunAsync(Action action)
    {
        var ran = new TaskCompletionSource<bool>(Topic.Node.Completions);
        Topic.Node.Run(() =>
        {
            action();
            ran.TrySetResult(true);
        });
        return ran.Task;
    }

    // Completes in every case, so that no caller of DisposeAsync waits forever.
    private async Task DisposeOnceAsync(TaskCompletionSource done)
    {
        try
        {
            await CloseAsync().ConfigureAwait(Topic.Node.ResumesInContext);
        }
        finally
        {
            done.SetResult();
        }
    }

    private async Task CloseAsync()
    {
        var before = State;
        TryAdvance(EndpointState.Disposed);
        var leaving = before != EndpointState.Failed && Subscription is { IsHeard: true } heard
            ? heard.LeaveWithinAsync(DisposeDrainLimit)
            : Task.CompletedTask;
        if (before is EndpointState.Open or EndpointState.Draining)
        {
            await DrainWithinAsync(DisposeDrainLimit).ConfigureAwait(Topic.Node.ResumesInContext);
        }

        await leaving.ConfigureAwait(Topic.Node.ResumesInContext);

        Stop(AfterDispose.OfTopic(Name), readerError: null);
        // An endpoint that the core thread has not left yet ends with the node at the latest.
        var left = RunAsync(() =>
        {
            Topic.Leave(this);
            if (Subscription?.IsKeptUntilRead() != true)
            {
                Topic.Node.EndpointRegistry.Remove(this);
            }
        });
        await Within(left, DisposeLeaveLimit).ConfigureAwait(Topic.Node.ResumesInContext);
    }

    // Ends all activities of this endpoint, from any thread: first the waits of other threads, then the rest on the core thread.
    private void Stop(Exception reason, Exception? readerError)
    {
        _isOver = true;
        Interlocked.CompareExchange(ref End.Reason, reason, null);
        bool isFirst = Publication?.TryBeginEnd(reason) == true;
        bool isCancelled = State == EndpointState.Cancelled;
        var end = SubscriptionEnd.Of(readerError, isCancelled) with { Unhandled = Subscription?.GivenUp ?? 0 };
        // Only cancellation discards messages that the reader has not read yet.
        Subscription?.EndBuffer(readerError, discard: isCancelled);
        var handlers = Subscription?.TakeHandlers();
        Publication?.EndWaits(reason);
        Volatile.Read(ref End.Over)?.TrySetResult();
        Topic.Node.Run(() => EndOnCore(Topic.Node.Environment.Now + CommitLimit, Topic.Node.Intake.Lane.Tail));
        if (Topic.Node.Ended.IsCancellationRequested)
        {
            // The core thread will not notify them.
            handlers?.End(end);
        }

        void EndOnCore(TimeSpan lastTry, long laneEnd)
        {
            if (isFirst && !Publication!.TryEnd(laneEnd, isLastTry: Topic.Node.Environment.Now >= lastTry))
            {
                Topic.Node.Run(() => EndOnCore(lastTry, laneEnd));
                return;
            }

            Publication?.Unstable.FailAll(reason);
            Publication?.EndFeeds(reason, isFailure: readerError is not null);
            Topic.OnEndpointEnded(this, reason);
            handlers?.End(_isCancelled ? end with { Unhandled = Subscription!.ReportUntaken(handlers) } : end);
        }
    }

    /// <summary>Advances the state; states never go back. False if this state or a later one was already reached.</summary>
    private bool TryAdvance(EndpointState to) => ForwardState.TryAdvance(ref _state, (int)to);

    // What few endpoints have.
    private sealed class EndpointEnd
    {
        public Task? Disposal;
        public Exception? Failure;
        public Exception? Reason;
        public TaskCompletionSource? Over;
    }
}
