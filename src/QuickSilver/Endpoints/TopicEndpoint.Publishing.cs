using System.Runtime.CompilerServices;
using QuickSilver.Multicast;
using QuickSilver.Publishing;

namespace QuickSilver.Endpoints;

// The publishing half of the typed endpoint, and the three ways to end it: drain waits until accepted messages are stable, cancel drops
// them, and dispose drains for a moment and leaves the topic. Each returns within its limit even if a handler blocks the core thread.
internal sealed partial class TopicEndpoint<T>
{
    private static readonly TimeSpan DrainLimit = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan DisposeDrainLimit = TimeSpan.FromMilliseconds(500);
    private static readonly TimeSpan DisposeLeaveLimit = TimeSpan.FromMilliseconds(250);

    // Null while there is none.
    private List<AttachedFeed>? _feeds;
    private Task? _disposal;

    public ValueTask PublishAsync(T value, CancellationToken cancellationToken = default) => PublishAsync(in value, cancellationToken);

    public ValueTask PublishAsync(in T value, CancellationToken cancellationToken = default) =>
        !IsPlain ? PublishAsync(in value, null, PublishCompletion.Accepted, cancellationToken)
        : !cancellationToken.IsCancellationRequested && TryPublishInLane(in value, default) ? default
        : PublishPastLane(in value, default, cancellationToken);

    public ValueTask PublishAsync(T value, PublishCompletion completion, CancellationToken cancellationToken = default)
    {
        if (completion == PublishCompletion.Accepted)
        {
            return PublishAsync(in value, cancellationToken);
        }

        OptionRules.CheckCompletion(completion);
        return IsPlain
            ? PublishAsStable(in value, default, cancellationToken)
            : PublishAsync(in value, null, completion, cancellationToken);
    }

    private ValueTask PublishAsStable(in T value, ReadOnlySpan<byte> extensions, CancellationToken cancellationToken)
    {
        if (cancellationToken.IsCancellationRequested)
        {
            return ValueTask.FromCanceled(cancellationToken);
        }

        var request = Encode(value, extensions);
        var stable = new StableCompletion(Topic.Node.Latency, Topic.Node.Completions);
        request.Stable = stable;
        return _gate.TryEnter(request)
            ? new ValueTask(stable.WaitAsync(Topic.Node.ResumesInContext, cancellationToken, Topic.Node.Ended))
            : new ValueTask(WaitForRoomAndStableAsync(request, stable, cancellationToken));
    }

    public IAttachedFeed AttachFeed(FeedCallback<T> feed)
    {
        ArgumentNullException.ThrowIfNull(feed);
        return AttachFeed(new CallbackFeed<T>(feed));
    }

    public IAttachedFeed AttachFeed(IMessageFeed<T> feed)
    {
        ArgumentNullException.ThrowIfNull(feed);
        CheckPublishes();
        var attached = new TypedFeed<T>(Topic.Publisher, this, _codec, feed, Topic.OnFeedFault);
        lock (Topic)
        {
            CheckPublishes();
            _feeds ??= [];
            _feeds.RemoveAll(static old => old.HasEnded);
            _feeds.Add(attached);
        }

        HasPublished = true;
        attached.Attach();
        return attached;
    }

    public override Task<bool> DrainAsync(TimeSpan? timeout = null)
    {
        var within = timeout ?? DrainLimit;
        OptionRules.CheckDrainTimeout(within);
        if (State == EndpointState.Disposed)
        {
            throw new ObjectDisposedException($"The topic \"{Name}\"");
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
            Stop(new OperationCanceledException($"This endpoint of the topic \"{Name}\" was cancelled."), readerError: null);
        }
    }

    public override void OnFailed(Exception reason)
    {
        if (TryAdvance(EndpointState.Failed))
        {
            Stop(reason, reason);
        }

        if (Topic.Node.Ended.IsCancellationRequested)
        {
            // The core thread will not tell the feeds.
            EndFeeds(reason, isFailure: true);
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

    [MethodImpl(MethodImplOptions.NoInlining)]
    private ValueTask PublishPastLane(in T value, ReadOnlySpan<byte> extensions, CancellationToken cancellationToken)
    {
        if (cancellationToken.IsCancellationRequested)
        {
            return ValueTask.FromCanceled(cancellationToken);
        }

        var request = Encode(value, extensions);
        request.FitsLane = request.Payload.Length <= _lane.MaxPayloadBytes;
        if (!_gate.TryEnter(request))
        {
            return WaitForRoom(request, cancellationToken);
        }

        CheckStillOpen();
        return default;
    }

    // A thread that ends the endpoint first changes the state, then reads HasPublished, and then sends a marker after the messages that are
    // in the lane and at the gate by then. A message that is there while the endpoint is still open, after a full fence, therefore precedes
    // the marker and is drained. A later message may be dropped, so its publisher must get an exception.
    private void CheckStillOpen()
    {
        if (State != EndpointState.Open)
        {
            CheckPublishes();
        }
    }

    // The path of most messages: they are encoded where the core thread reads them.
    private bool TryPublishInLane(in T value, ReadOnlySpan<byte> extensions)
    {
        CheckPublishes();
        if (_lane.IsAnyPast && _gate.IsPastLane)
        {
            return false;
        }

        // Claiming too much room in the lane is cheap: bytes that are claimed and not written are never touched.
        int size;
        try
        {
            // A negative size counts as too large. The path outside the lane reports it as an error of the codec.
            size = _codec.GetMaxSize(value);
            if ((uint)size > (uint)_lane.MaxPayloadBytes)
            {
                size = _codec.GetSize(value);
            }
        }
        catch (OverflowException overflow)
        {
            throw MessageTooLargeException.BeyondCounting(overflow);
        }

        if ((uint)size > (uint)_lane.MaxPayloadBytes || size > Topic.MostBytes
            || !_lane.TryClaim(extensions.Length + size, out var claim))
        {
            return false;
        }

        try
        {
            var room = claim.Payload;
            if (!extensions.IsEmpty)
            {
                extensions.CopyTo(room);
                room = room[extensions.Length..];
            }

            size = PayloadEncoding<T>.Write(_codec, value, room);
        }
        catch
        {
            _lane.Abandon(claim);
            throw;
        }

        // Set before the commit, which is the fence that CheckStillOpen needs.
        if (!HasPublished)
        {
            HasPublished = true;
        }

        _lane.Commit(claim, Source, size, extensions.Length);
        _intake.Signal();
        CheckStillOpen();
        return true;
    }

    private PublishRequest Encode(in T value, ReadOnlySpan<byte> extensions)
    {
        CheckPublishes();
        int size;
        try
        {
            size = PayloadEncoding<T>.CheckSize(_codec, _codec.GetSize(value));
        }
        catch (OverflowException overflow)
        {
            throw MessageTooLargeException.BeyondCounting(overflow);
        }

        if (size > MulticastOptions.MaxMessageBytes)
        {
            throw new MessageTooLargeException(size, MulticastOptions.MaxMessageBytes);
        }

        if (size > Topic.MostBytes)
        {
            throw MessageTooLargeException.ForNow(size, Topic.MostBytes);
        }

        var request = Topic.Node.Requests.Rent();
        try
        {
            request.SetLength(PayloadEncoding<T>.Write(_codec, value, request.Prepare(size, extensions)));
        }
        catch
        {
            request.Recycle();
            throw;
        }

        request.Origin = this;
        request.Charge = extensions.Length + size + PublishBudget.MessageOverhead;
        HasPublished = true;
        return request;
    }

    // There is no room. This is the only part of the publish path that takes a lock. It does not allocate if there is no token to watch.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private ValueTask WaitForRoom(PublishRequest request, CancellationToken cancellationToken)
    {
        var gate = _gate;
        var wait = cancellationToken.CanBeCanceled ? new PublishWait(pool: null) : Topic.Node.Requests.RentWait();
        wait.Gate = gate;
        wait.Request = request;
        wait.ResumesInContext = Topic.Node.ResumesInContext;
        request.Wait = wait;
        var task = wait.Task;
        bool isPlain = request.Stable is null;
        bool hasEntered = gate.EnterOrQueue(request);
        if (State != EndpointState.Open)
        {
            // The request may be after the marker of the thread that ended the endpoint, or in the line after the line was failed, so that
            // no other thread ends this wait. A publisher that waits until stable is notified if its message was not withdrawn. A wait that
            // is not awaited is not returned to the pool.
            bool isWithdrawn = !hasEntered && gate.TryWithdraw(wait);
            if (isPlain || isWithdrawn)
            {
                CheckPublishes();
            }
        }

        if (hasEntered)
        {
            // No other thread has seen the wait. It is completed here, and awaiting it returns it to the pool.
            wait.Complete();
            return task;
        }

        Interlocked.Increment(ref Topic.Node.CounterCells.PublishWaits);
        wait.WatchFor(cancellationToken);
        return task;
    }

    private async Task WaitForRoomAndStableAsync(PublishRequest request, StableCompletion stable, CancellationToken cancellationToken)
    {
        await WaitForRoom(request, cancellationToken).ConfigureAwait(Topic.Node.ResumesInContext);
        bool inContext = Topic.Node.ResumesInContext;
        await stable.WaitAsync(inContext, cancellationToken, Topic.Node.Ended).ConfigureAwait(inContext);
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
        if (before is EndpointState.Open or EndpointState.Draining)
        {
            await DrainWithinAsync(DisposeDrainLimit).ConfigureAwait(Topic.Node.ResumesInContext);
        }

        Stop(new ObjectDisposedException($"The topic \"{Name}\""), readerError: null);
        // An endpoint that the core thread has not left yet ends with the node at the latest.
        var left = RunAsync(() =>
        {
            Topic.Leave(this);
            Topic.Node.EndpointRegistry.Remove(this);
        });
        await Within(left, DisposeLeaveLimit).ConfigureAwait(Topic.Node.ResumesInContext);
    }

    // Ends all activities of this endpoint, from any thread: first the waits of other threads, then the rest on the core thread.
    private void Stop(Exception reason, Exception? readerError)
    {
        bool isFirst = DropQueued(reason);
        if (isFirst && Publishes)
        {
            _intake.BeginEnd();
        }

        var end = SubscriptionEnd.Of(readerError, State == EndpointState.Cancelled);
        // Only cancellation discards messages that the reader has not read yet.
        _ring?.End(readerError, discard: State == EndpointState.Cancelled);
        HandlerEndpoint<T>[] handlers;
        TopicObserver<T>[] observers;
        lock (Topic)
        {
            handlers = _handlers;
            Volatile.Write(ref _handlers, []);
            ChooseDirect();
            observers = _observers;
            _observers = [];
        }

        DetachFeeds();
        if (Publishes)
        {
            _gate.FailLine(this, reason);
        }

        Topic.Node.Run(() =>
        {
            if (isFirst && Publishes)
            {
                _intake.End(Source);
            }

            Unstable.FailAll(reason);
            EndFeeds(reason, isFailure: readerError is not null);
            Topic.OnEndpointEnded(this, reason);
            TellEnd();
        });
        if (Topic.Node.Ended.IsCancellationRequested)
        {
            // The core thread will not tell them.
            TellEnd();
        }

        void TellEnd()
        {
            foreach (var handler in handlers)
            {
                handler.End(end);
            }

            foreach (var observer in observers)
            {
                observer.End(readerError);
            }
        }
    }

    // Returns whether there are any. They are told what becomes of their messages until the endpoint ends.
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

    private void CheckPublishes()
    {
        if (!Publishes)
        {
            throw new InvalidOperationException(
                $"This endpoint of the topic \"{Name}\" is a subscriber and cannot publish. Open another with OpenPublisherAsync.");
        }

        if (State == EndpointState.Draining)
        {
            throw new InvalidOperationException($"This endpoint of the topic \"{Name}\" is draining and accepts no more messages.");
        }

        if (State != EndpointState.Open)
        {
            CheckUsable();
        }
    }
}
