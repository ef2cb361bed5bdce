using QuickSilver.Diagnostics;
using QuickSilver.Publishing;

namespace QuickSilver.Endpoints;

// The three ways to end the typed endpoint: drain waits until accepted messages are stable, cancel drops them, and dispose drains for a
// moment and leaves the topic. Each returns within its limit even if a handler blocks the core thread.
internal sealed partial class TopicEndpoint<T>
{
    private static readonly TimeSpan DrainLimit = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan DisposeDrainLimit = TimeSpan.FromMilliseconds(500);
    private static readonly TimeSpan DisposeLeaveLimit = TimeSpan.FromMilliseconds(250);
    // How long the count of what is dropped waits for publishers that are about to write into the lane: no encoding takes so long, unless a
    // codec hangs.
    private static readonly TimeSpan CommitLimit = TimeSpan.FromMilliseconds(100);

    private Task? _disposal;
    private Exception? _failure;

    public override Task<bool> DrainAsync(TimeSpan? timeout = null)
    {
        var within = timeout ?? DrainLimit;
        OptionRules.CheckDrainTimeout(within);
        if (State == EndpointState.Disposed)
        {
            throw AfterDispose.OfTopic(Name);
        }

        TryAdvance(EndpointState.Draining);
        return State == EndpointState.Draining ? DrainWithinAsync(within) : Task.FromResult(false);
    }

    public override Task<bool> DrainWithNodeAsync(TimeSpan within)
    {
        TryAdvance(EndpointState.Draining);
        return State switch
        {
            EndpointState.Draining => DrainWithinAsync(within),
            EndpointState.Failed => Task.FromResult(false),
            _ => Task.FromResult(true),
        };
    }

    /// <summary>
    /// Registers this endpoint to end when its node has ended, so that no caller waits forever for a core thread that a handler blocks.
    /// Called once, before the application gets the endpoint.
    /// </summary>
    public void EndWithNode() => Topic.Node.EndpointRegistry.Add(this);

    public void Cancel()
    {
        if (TryAdvance(EndpointState.Cancelled))
        {
            _isCancelled = true;
            Stop(new OperationCanceledException($"This endpoint of the topic \"{Name}\" was cancelled."), readerError: null);
            if (_ring is not null)
            {
                // What comes until then is dropped as well.
                _ = LeaveAsync();
            }
        }
    }

    public override void OnFailed(Exception reason)
    {
        // Before the state: a thread that sees the state Failed finds the reason, also if the endpoint was cancelled before.
        Interlocked.CompareExchange(ref _failure, reason, null);
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
            EndFeeds(reason, isFailure: true);
            EndReading();
        }
    }

    public override void LeaveIntake()
    {
        if (Publishes)
        {
            _intake.Leave(Source);
        }
    }

    public override ValueTask DisposeAsync()
    {
        var disposal = Volatile.Read(ref _disposal);
        if (disposal is null)
        {
            var begun = new TaskCompletionSource(Topic.Node.Completions);
            disposal = Interlocked.CompareExchange(ref _disposal, begun.Task, null);
            if (disposal is null)
            {
                _ = DisposeOnceAsync(begun);
                disposal = begun.Task;
            }
        }

        return new ValueTask(disposal);
    }

    private async Task<bool> DrainWithinAsync(TimeSpan within)
    {
        // When a feed is detached, a message that it keeps joins the queue, before the marker.
        if (DetachFeeds() && !await Within(RunAsync(static () => { }), within).ConfigureAwait(Topic.Node.ResumesInContext))
        {
            return false;
        }

        if (!Publishes || !HasPublished)
        {
            return true;
        }

        // The marker joins the line or the queue like a message, so all messages accepted before it are sent first.
        var drained = new TaskCompletionSource<bool>(Topic.Node.Completions);
        var marker = Topic.Node.Requests.Rent();
        marker.Prepare(0);
        marker.Origin = this;
        marker.Charge = 0;
        marker.Marker = () => Topic.Publisher.WhenStable(() => drained.TrySetResult(DropReason is null));
        if (!_gate.TryEnter(marker))
        {
            _gate.EnterOrQueue(marker);
        }

        return await Within(drained.Task, within).ConfigureAwait(Topic.Node.ResumesInContext);
    }

    private async Task<bool> Within(Task<bool> task, TimeSpan limit)
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
        var leaving = before != EndpointState.Failed && IsHeard ? LeaveWithinAsync(DisposeDrainLimit) : Task.CompletedTask;
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
            RemoveWhenRead();
        });
        await Within(left, DisposeLeaveLimit).ConfigureAwait(Topic.Node.ResumesInContext);
    }

    // Ends all activities of this endpoint, from any thread: first the waits of other threads, then the rest on the core thread.
    private void Stop(Exception reason, Exception? readerError)
    {
        _isOver = true;
        bool isFirst = DropQueued(reason);
        if (isFirst && Publishes)
        {
            _intake.BeginEnd();
        }

        var end = SubscriptionEnd.Of(readerError, State == EndpointState.Cancelled) with { Unhandled = _leaving?.GivenUp ?? 0 };
        // Only cancellation discards messages that the reader has not read yet.
        EndRing(readerError, discard: State == EndpointState.Cancelled);
        var handlers = TakeHandlers();
        DetachFeeds();
        if (Publishes)
        {
            _gate.FailLine(this, reason);
        }

        Topic.Node.Run(() => EndOnCore(Topic.Node.Environment.Now + CommitLimit, _lane.Tail));
        if (Topic.Node.Ended.IsCancellationRequested)
        {
            // The core thread will not notify them.
            EndHandlers(handlers, end);
        }

        void EndOnCore(TimeSpan lastTry, long laneEnd)
        {
            if (isFirst && Publishes && !_intake.TryEnd(Source, laneEnd, isLastTry: Topic.Node.Environment.Now >= lastTry))
            {
                Topic.Node.Run(() => EndOnCore(lastTry, laneEnd));
                return;
            }

            Unstable.FailAll(reason);
            EndFeeds(reason, isFailure: readerError is not null);
            Topic.OnEndpointEnded(this, reason);
            EndHandlers(handlers, _isCancelled && _ring is not null ? end with { Unhandled = TellUntaken(handlers.Handlers) } : end);
        }
    }

    // Returns whether there are any. They are notified of the outcome of their messages until the endpoint ends.
    private bool DetachFeeds()
    {
        lock (Topic)
        {
            foreach (var feed in _feeds ?? [])
            {
                feed.Dispose();
            }

            return _feeds is not null;
        }
    }

    private void EndFeeds(Exception reason, bool isFailure)
    {
        List<AttachedFeed>? feeds;
        lock (Topic)
        {
            feeds = _feeds;
            _feeds = null;
        }

        foreach (var feed in feeds ?? [])
        {
            feed.End(reason, isFailure);
        }
    }
}
