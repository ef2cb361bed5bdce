using QuickSilver.Core.Environment;
using QuickSilver.Diagnostics;
using QuickSilver.Multicast;

namespace QuickSilver.Publishing;

// The core thread's side of publishing to one topic: hands requests to the topic's sender in order for as long as it has
// room, and lets feeds fill what room is left. Publishes and feeds take turns at being first, so neither starves.
//
// Invariants: what waits here stands in the queue, and goes before all that stands behind its mark in the lane. While something waits, or
// the sender has no room, no message goes straight.
internal sealed class TopicPublisher : SignalRequest, IRoomObserver
{
    // Messages handed down in one go: the core thread must come back to tokens and receives.
    private const int TurnMessages = 1024;

    // What a message in its turn goes to: the sender, while nothing waits here. Set when one has gone by the long way, and taken
    // away by whatever may come before the next.
    private ITopicSender? _straight;
    private readonly PublishIntake _intake;
    private readonly NodeCounterCells _counterCells;
    private readonly PublishLatency _latency;
    private LatencyProbe? _probe;
    // Null before the first feed.
    private FeedRotation? _feeds;
    // Null before the first message that has to wait.
    private PublishQueue? _queue;
    private ITopicSender? _sender;
    // What those are told that come after the sender was closed.
    private Exception? _closeReason;
    private bool _isBlocked;
    private bool _isPumping;
    private bool _feedsFirst;
    private bool _laneFirst;

    public TopicPublisher(
        INodeEnvironment environment, NodeCounterCells counterCells, PublishBudget budget, PublishIntake intake, PublishLatency latency)
        : base(environment)
    {
        _intake = intake;
        _counterCells = counterCells;
        _latency = latency;
        Gate = new PublishGate(environment, budget, intake, this);
    }

    public PublishGate Gate { get; }

    /// <summary>Told of a message that packet memory can never take: its bytes, and how many it could have.</summary>
    public Action<int, long>? Refused { get; init; }

    /// <summary>What a message may have at most, as the topic's view is now.</summary>
    public long MostBytes => _sender?.MostBytes ?? long.MaxValue;

    public bool HasSender => _sender is not null;

    private PublishQueue Queue => _queue ??= new PublishQueue();

    // The oldest message that waits here.
    private PublishRequest? First => _queue?.First;

    /// <summary>The intake's note.</summary>
    public bool IsAwaitingLane { get; set; }

    public void Open(ITopicSender sender)
    {
        _sender = sender;
        _straight = null;
        _isBlocked = false;
        sender.RoomObserver = this;
        Pump();
    }

    /// <summary>Closes the sender; what still waits fails, except markers, which are called.</summary>
    public void Close(Exception reason)
    {
        _sender?.Close();
        _sender = null;
        _straight = null;
        _closeReason = reason;
        FailQueue();
        _intake.Resume();
    }

    public void Add(AttachedFeed feed)
    {
        (_feeds ??= new FeedRotation()).Add(feed);
        Pump();
    }

    public void Remove(AttachedFeed feed) => _feeds?.Remove(feed);

    /// <summary>Calls back when all that this topic was given until now is stable; at once without a sender.</summary>
    public void WhenStable(Action callback)
    {
        if (_sender is null)
        {
            callback();
        }
        else
        {
            _sender.WhenStable(callback);
        }
    }

    /// <summary>Sends what may be sent. Nothing happens when called from within itself: the outer call goes on.</summary>
    public void Pump()
    {
        if (_isPumping || _isBlocked || _sender is not { } sender)
        {
            return;
        }

        _isPumping = true;
        int left = TurnMessages;
        _feedsFirst = !_feedsFirst && _feeds is { Count: > 0 };
        try
        {
            if (_feedsFirst)
            {
                PumpFeeds(sender, ref left);
                PumpRequests(sender, ref left);
            }
            else
            {
                PumpRequests(sender, ref left);
                PumpFeeds(sender, ref left);
            }
        }
        finally
        {
            _isPumping = false;
        }

        NoteQueue();
        if (left <= 0 && !_isBlocked)
        {
            Signal();
        }
    }

    /// <summary>Whether messages wait here that are older than what stands first in the lane.</summary>
    public bool IsQueued => First is { } first && first.Mark <= _intake.Lane.Next;

    /// <summary>Whether the lane has passed the oldest request's mark.</summary>
    public bool IsDue => First is null || IsQueued;

    /// <summary>Whether a message could go now; if not, the intake is resumed when one can.</summary>
    public bool AwaitRoom()
    {
        if (_sender is not { } sender)
        {
            return true;
        }

        if (!_isBlocked && !sender.AwaitRoom())
        {
            Block();
        }

        return !_isBlocked;
    }

    // The sender had no room, and says when it has.
    private void Block()
    {
        _isBlocked = true;
        _straight = null;
    }

    /// <summary>Reads what a message that goes straight will, and does nothing.</summary>
    public int Touch() => _straight?.Touch() ?? 0;

    /// <summary>Sends the message that stands first in the lane, or drops it when nobody publishes any more. False: no room, or older
    /// ones wait.</summary>
    public bool TrySendFromLane(in LaneMessage message)
    {
        if (_straight is { } straight && !_intake.HasInboxes)
        {
            return TrySend(straight, message.Payload);
        }

        if ((First is not null || Gate.HasInbox) && !TryCatchUp())
        {
            return false;
        }

        if (_sender is not { } sender)
        {
            return true;
        }

        if (_isBlocked || !TrySend(sender, message.Payload))
        {
            return false;
        }

        _straight = First is null && !_isBlocked ? sender : null;
        return true;
    }

    /// <summary>Takes over what a feed that is detached had given and there was no room for: before all that waits in the lane.</summary>
    public void TakeKept(PublishOrigin origin, ReadOnlySpan<byte> payload)
    {
        if (_sender is null)
        {
            return;
        }

        var request = _intake.Rent(origin, payload);
        request.Mark = _intake.Lane.Next;
        TakeOver(request);
        Pump();
    }

    /// <summary>Takes over a message that is not the newest.</summary>
    public void TakeOver(PublishRequest request)
    {
        Gate.Charge(request.Charge);
        _straight = null;
        Queue.Insert(request);
        Gate.SetQueued(true);
    }

    // What was pushed before the message in the lane that is on turn goes before it.
    private bool TryCatchUp()
    {
        TakeInbox();
        if (IsQueued && _sender is { } sender && !_isPumping)
        {
            _isPumping = true;
            int left = int.MaxValue;
            PumpRequests(sender, ref left);
            _isPumping = false;
        }

        NoteQueue();
        return !IsQueued;
    }

    private void NoteQueue() => Gate.SetQueued(IsQueued);

    protected override void OnSignal() => Pump();

    /// <summary>The gate's inbox was filled.</summary>
    public void OnInbox()
    {
        TakeInbox();
        if (_sender is null)
        {
            FailQueue();
            return;
        }

        Pump();
        if (First is { } first && first.Mark > _intake.Lane.Next)
        {
            // The lane may stand for another topic, and would not look by itself.
            _intake.Drain();
        }
    }

    private void TakeInbox()
    {
        var request = Gate.TakeInbox();
        while (request is not null)
        {
            var next = request.Next;
            _straight = null;
            Queue.Append(request);
            request = next;
        }
    }

    void IRoomObserver.OnRoom()
    {
        _isBlocked = false;
        _laneFirst = !_laneFirst;
        if (_laneFirst && _feeds is { Count: > 0 } && !IsQueued)
        {
            _intake.Drain();
        }

        Pump();
        _intake.Resume();
    }

    private void PumpRequests(ITopicSender sender, ref int left)
    {
        long released = 0;
        while (First is { } request && left > 0 && !_isBlocked)
        {
            if (request.EndedReason is { } reason)
            {
                _queue!.RemoveFirst();
                released += request.Fail(reason);
                continue;
            }

            if (request.Mark > _intake.Lane.Next)
            {
                _intake.Await(this);
                break;
            }

            if (request.Marker is { } marker)
            {
                _queue!.RemoveFirst();
                released += request.Charge;
                request.Recycle();
                marker();
                continue;
            }

            left--;
            if (!TrySend(sender, request))
            {
                Block();
                break;
            }

            _queue!.RemoveFirst();
            released += request.Charge;
            request.Recycle();
        }

        Release(released);
    }

    private bool TrySend(ITopicSender sender, PublishRequest request)
    {
        if (request.Stable is { } stable)
        {
            // Joins the list first: a message without subscribers is stable before TrySend returns.
            stable.Begin(Environment.Now);
            request.Origin!.Unstable.Add(stable);
            if (sender.TrySend(request.Payload, stable) < 0)
            {
                request.Origin.Unstable.Remove(stable);
                if (!IsImpossible(sender, request.Payload.Length))
                {
                    return false;
                }

                stable.Fail(MessageTooLargeException.ForNow(request.Payload.Length, sender.MostBytes));
                return true;
            }
        }
        else
        {
            return TrySend(sender, request.Payload);
        }

        _counterCells.CountPublished(request.Payload.Length);
        return true;
    }

    private bool TrySend(ITopicSender sender, ReadOnlySpan<byte> payload)
    {
        // The latency first, which all topics share and which is at hand.
        var probe = _latency.IsWatched ? (_probe ??= new LatencyProbe(_latency)).TryBegin() : null;
        if (sender.TrySend(payload, probe) >= 0)
        {
            _counterCells.CountPublished(payload.Length);
            return true;
        }

        if (probe is not null)
        {
            _probe!.GiveUp();
        }

        if (IsImpossible(sender, payload.Length))
        {
            // It was accepted before the topic came to lie in so many regions: it is lost, and that is told.
            return true;
        }

        Block();
        return false;
    }

    // No room: whether there never will be.
    private bool IsImpossible(ITopicSender sender, int bytes)
    {
        if (bytes <= sender.MostBytes)
        {
            return false;
        }

        Refused?.Invoke(bytes, sender.MostBytes);
        return true;
    }

    private void PumpFeeds(ITopicSender sender, ref int left)
    {
        while (left > 0 && !_isBlocked && _feeds?.Pull(out var message) is { } feed)
        {
            left--;
            if (sender.TrySend(message, null) >= 0)
            {
                _counterCells.CountPublished(message.Length);
            }
            else if (!IsImpossible(sender, message.Length))
            {
                _feeds.Keep(feed, message);
                Block();
            }
        }
    }

    /// <summary>
    /// Lets go of what a cancelled endpoint had queued. So does a blocked topic: its publishers' room must not wait for the network.
    /// </summary>
    public void OnEndpointEnded()
    {
        Release(_queue?.FailEnded() ?? 0);
        Pump();
        _intake.Resume();
    }

    private void FailQueue()
    {
        long released = _queue?.FailAll(_closeReason ?? new InvalidOperationException("The topic is not open for publishing.")) ?? 0;
        NoteQueue();
        Release(released);
    }

    private void Release(long charge)
    {
        if (charge > 0)
        {
            Gate.Release(charge);
        }
    }
}
