using System.Runtime.CompilerServices;
using QuickSilver.Diagnostics;
using QuickSilver.Publishing;

namespace QuickSilver.Endpoints;

// The publishing half of the typed endpoint.
internal sealed partial class TopicEndpoint<T>
{
    // Null while there is none.
    private List<AttachedFeed>? _feeds;

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
        var attached = new TypedFeed<T>(Topic.Publisher, this, Name, _codec, feed, Topic.OnFeedFault);
        lock (Topic)
        {
            CheckPublishes();
            _feeds ??= [];
            _feeds.RemoveAll(static old => old.HasEnded);
            if (_feeds.Exists(one => one.IsOf(feed)))
            {
                throw new InvalidOperationException(
                    $"This feed is attached to the topic \"{Name}\" already. Attach it again when its OnEnded was called, or attach "
                    + "another object.");
            }

            _feeds.Add(attached);
        }

        HasPublished = true;
        attached.Attach();
        return attached;
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
        CheckAccepts();
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
        catch (ArgumentNullException) when (value is null)
        {
            throw NullPayload.OfTopic(Name);
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
        CheckAccepts();
        int size;
        try
        {
            size = PayloadEncoding<T>.CheckSize(_codec, _codec.GetSize(value));
        }
        catch (OverflowException overflow)
        {
            throw MessageTooLargeException.BeyondCounting(overflow);
        }
        catch (ArgumentNullException) when (value is null)
        {
            throw NullPayload.OfTopic(Name);
        }

        MessageTooLargeException.ThrowIfOver(size);

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

        // The line may have been failed before the request was in it.
        if (Loss is { } loss && !hasEntered && gate.TryWithdraw(wait))
        {
            throw loss.Of(Name);
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

    public override void OnServiceBack()
    {
        base.OnServiceBack();
        AttachedFeed[] feeds;
        lock (Topic)
        {
            feeds = [.. _feeds ?? []];
        }

        Array.ForEach(feeds, static feed => feed.Signal());
    }

    private void CheckAccepts()
    {
        CheckPublishes();
        if (Loss is { } loss)
        {
            throw loss.Of(Name);
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
