using System.Runtime.CompilerServices;
using QuickSilver.Publishing;
using QuickSilver.Publishing.Feeds;
using QuickSilver.Publishing.Lane;
using QuickSilver.Publishing.Requests;

namespace QuickSilver.Endpoints.Publications;

// The publishing half of an endpoint, independent of the payload type: what may be published, the wait for room, feeds, and the end.
//
// The topic object is the lock for the feeds, because a lock of its own would cost 40 bytes for each idle endpoint.
internal abstract class TopicPublication : PublishOrigin
{
    // Null while there is none.
    private List<AttachedFeed>? _feeds;
    // The lower half of the count when it was taken last. All of it would make each publication larger, and between two calls far fewer
    // messages are dropped than a half can count.
    private uint _takenDrops;

    protected TopicPublication(TopicEndpoint endpoint, TopicOptions options)
    {
        var publisher = endpoint.Topic.Publisher;
        Endpoint = endpoint;
        Gate = publisher.Gate;
        Intake = endpoint.Topic.Node.Intake;
        Lane = Intake.Lane;
        ServiceLossLimit = options.RequireQuorum ? TimeSpan.Zero : options.ServiceLossLimit ?? TimeSpan.MaxValue;
        Intake.Enter(this, publisher);
    }

    public sealed override bool StampsTime => Endpoint.StampsTime;

    /// <summary>After so long without the membership service, messages are refused.</summary>
    public TimeSpan ServiceLossLimit { get; }

    protected TopicEndpoint Endpoint { get; }

    // Copies for publishers, because the objects that contain the originals also have fields that the core thread writes with each message.
    protected PublishGate Gate { get; }

    protected PublishIntake Intake { get; }

    protected PublishLane Lane { get; }

    protected EndpointTopic Topic => Endpoint.Topic;

    /// <exception cref="Exception">The endpoint accepts no messages, because it ends or has ended.</exception>
    public void CheckPublishes()
    {
        if (Endpoint.State == EndpointState.Open)
        {
            return;
        }

        if (Endpoint.State == EndpointState.Draining)
        {
            throw new InvalidOperationException(
                $"This endpoint of the topic \"{Topic.Name}\" is draining and accepts no more messages.");
        }

        Endpoint.CheckUsable();
    }

    /// <summary>Core thread: the messages that were dropped since the last call.</summary>
    public long TakeDrops()
    {
        uint now = unchecked((uint)Dropped);
        uint drops = unchecked(now - _takenDrops);
        _takenDrops = now;
        return drops;
    }

    /// <summary>Core thread: messages that were refused for want of the service are accepted again, and feeds are asked.</summary>
    public void OnServiceBack()
    {
        Loss = null;
        AttachedFeed[] feeds;
        lock (Topic)
        {
            feeds = [.. _feeds ?? []];
        }

        Array.ForEach(feeds, static feed => feed.Signal());
    }

    /// <summary>Core thread: called when the topic has removed the endpoint.</summary>
    public void LeaveIntake() => Intake.Leave(Source);

    /// <summary>
    /// From any thread: completes when all messages that were accepted before are stable, with whether none of them was dropped.
    /// </summary>
    public Task<bool> WhenDrained()
    {
        // The marker joins the line or the queue like a message, so all messages accepted before it are sent first.
        var drained = new TaskCompletionSource<bool>(Topic.Node.Completions);
        var marker = Topic.Node.Requests.Rent();
        marker.Prepare(0);
        marker.Origin = this;
        marker.Charge = 0;
        marker.Marker = () => Topic.Publisher.WhenStable(() => drained.TrySetResult(DropReason is null));
        if (!Gate.TryEnter(marker))
        {
            Gate.EnterOrQueue(marker);
        }

        return drained.Task;
    }

    /// <summary>Any thread: the endpoint ends, and its queued messages are dropped. False if this was called before.</summary>
    public bool TryBeginEnd(Exception reason)
    {
        if (!DropQueued(reason))
        {
            return false;
        }

        Intake.BeginEnd();
        return true;
    }

    /// <summary>Any thread: ends the feeds, and the calls that wait for room.</summary>
    public void EndWaits(Exception reason)
    {
        DetachFeeds();
        Gate.FailLine(this, reason);
    }

    /// <summary>Core thread: drops what the lane has of this endpoint; see <see cref="PublishIntake.TryEnd"/>.</summary>
    public bool TryEnd(long laneEnd, bool isLastTry) => Intake.TryEnd(Source, laneEnd, isLastTry);

    /// <summary>
    /// Any thread. Returns whether there are any feeds. They are notified of the outcome of their messages until the endpoint ends.
    /// </summary>
    public bool DetachFeeds()
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

    /// <summary>Core thread, or any thread when the core thread has ended.</summary>
    public void EndFeeds(Exception reason, bool isFailure)
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

    /// <param name="attached">The feed.</param>
    /// <param name="feed">The application's object.</param>
    protected void Attach(AttachedFeed attached, object feed)
    {
        lock (Topic)
        {
            CheckPublishes();
            _feeds ??= [];
            _feeds.RemoveAll(static old => old.HasEnded);
            if (_feeds.Exists(one => one.IsOf(feed)))
            {
                throw new InvalidOperationException(
                    $"This feed is attached to the topic \"{Topic.Name}\" already. Attach it again when its OnEnded was called, or "
                    + "attach another object.");
            }

            _feeds.Add(attached);
        }

        Endpoint.HasPublished = true;
        attached.Attach();
    }

    protected void CheckAccepts()
    {
        CheckPublishes();
        if (Loss is { } loss)
        {
            throw loss.Of(Topic.Name);
        }
    }

    // A thread that ends the endpoint first changes the state, then reads HasPublished, and then sends a marker after the messages that are
    // in the lane and at the gate by then. A message that is there while the endpoint is still open, after a full fence, therefore precedes
    // the marker and is drained. A later message may be dropped, so its publisher must get an exception.
    protected void CheckStillOpen()
    {
        if (Endpoint.State != EndpointState.Open)
        {
            CheckPublishes();
        }
    }

    protected ValueTask EnterOrWait(PublishRequest request, CancellationToken cancellationToken)
    {
        if (!Gate.TryEnter(request))
        {
            return WaitForRoom(request, cancellationToken);
        }

        CheckStillOpen();
        return default;
    }

    protected ValueTask EnterUntilStable(PublishRequest request, CancellationToken cancellationToken)
    {
        var stable = new StableCompletion(Topic.Node.Latency, Topic.Node.Completions);
        request.Stable = stable;
        return Gate.TryEnter(request)
            ? new ValueTask(stable.WaitAsync(Topic.Node.ResumesInContext, cancellationToken, Topic.Node.Ended))
            : new ValueTask(WaitForRoomAndStableAsync(request, stable, cancellationToken));
    }

    // There is no room. This is the only part of the publish path that takes a lock. It does not allocate if there is no token to watch.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private ValueTask WaitForRoom(PublishRequest request, CancellationToken cancellationToken)
    {
        var wait = cancellationToken.CanBeCanceled ? new PublishWait(pool: null) : Topic.Node.Requests.RentWait();
        wait.Gate = Gate;
        wait.Request = request;
        wait.ResumesInContext = Topic.Node.ResumesInContext;
        request.Wait = wait;
        var task = wait.Task;
        bool isPlain = request.Stable is null;
        bool hasEntered = Gate.EnterOrQueue(request);
        if (Endpoint.State != EndpointState.Open)
        {
            // The request may be after the marker of the thread that ended the endpoint, or in the line after the line was failed, so that
            // no other thread ends this wait. A publisher that waits until stable is notified if its message was not withdrawn. A wait that
            // is not awaited is not returned to the pool.
            bool isWithdrawn = !hasEntered && Gate.TryWithdraw(wait);
            if (isPlain || isWithdrawn)
            {
                CheckPublishes();
            }
        }

        // The line may have been failed before the request was in it.
        if (Loss is { } loss && !hasEntered && Gate.TryWithdraw(wait))
        {
            throw loss.Of(Topic.Name);
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
}
