using QuickSilver.Core.Environment;
using QuickSilver.Core.Flow;
using QuickSilver.Diagnostics;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Publishing.Feeds;
using QuickSilver.Publishing.Lane;
using QuickSilver.Publishing.Requests;

namespace QuickSilver.Publishing;

// The core thread's side of publishing to one topic: decides which message is next. Requests go to the topic's sender in order while it has
// room, and feeds fill the room that is left. Requests and feeds are first in turn, so neither starves. SenderHandover passes the message.
//
// Invariants: messages that wait here are in the queue, and are sent before all messages after their mark in the lane. While a message
// waits or the sender has no room, no message is passed directly.
internal sealed class TopicPublisher : SignalRequest, ISenderFeed
{
    private readonly PublishIntake _intake;
    // Not readonly: it is a struct that has state of its own.
    private SenderHandover _handover;
    // Null until the first feed is added.
    private FeedRotation? _feeds;
    // Null until a message has to wait.
    private PublishQueue? _queue;
    private ITopicSender? _sender;
    // The exception for requests that arrive after the sender was closed.
    private Exception? _closeReason;
    // Not readonly: it is a struct that has state of its own.
    private SendPhase _phase;

    public TopicPublisher(
        INodeEnvironment environment, NodeCounterCells counterCells, PublishBudget budget, PublishIntake intake, PublishLatency latency)
        : base(environment)
    {
        _intake = intake;
        _handover = new SenderHandover(counterCells, latency);
        Gate = new PublishGate(environment, budget, intake, this);
    }

    public PublishGate Gate { get; }

    /// <summary>Called for a message for which packet memory can never have room, with its size in bytes and the maximum.</summary>
    public Action<int, long>? Refused
    {
        init => _handover.Refused = value;
    }

    /// <summary>The maximum size of a message with the topic's present view.</summary>
    public long MostBytes => _sender?.MostBytes ?? long.MaxValue;

    public bool HasSender => _sender is not null;

    /// <summary>The number of messages that this node has sent in the topic.</summary>
    public long Count => _sender?.Count ?? 0;

    /// <summary>Whether all that was sent is stable.</summary>
    public bool IsStable => _sender?.IsStable ?? true;

    /// <summary>What keeps the topic from sending.</summary>
    public StreamLimit Limit => _sender?.Limit ?? StreamLimit.Idle;

    private PublishQueue Queue => _queue ??= new PublishQueue();

    // The oldest message that waits here.
    private PublishRequest? First => _queue?.First;

    /// <summary>The intake adds the publisher to its list. False: it is there.</summary>
    public bool TryBeginAwaitLane()
    {
        if (_phase.IsAwaitingLane)
        {
            return false;
        }

        _phase.BeginAwaitLane();
        return true;
    }

    /// <summary>The intake has removed the publisher from its list.</summary>
    public void EndAwaitLane() => _phase.EndAwaitLane();

    public void Open(ITopicSender sender)
    {
        _sender = sender;
        _phase.EndStraight();
        _phase.Unblock();
        sender.Feed = this;
        Pump();
    }

    /// <summary>Closes the sender. Requests that still wait fail; markers are called.</summary>
    public void Close(Exception reason)
    {
        _sender?.Close();
        _sender = null;
        _phase.EndStraight();
        _closeReason = reason;
        FailQueue();
        _intake.Resume();
    }

    /// <summary>The feed may have something to send.</summary>
    public void Register(AttachedFeed feed)
    {
        (_feeds ??= new FeedRotation()).Add(feed);
        Pump();
    }

    public void Remove(AttachedFeed feed) => _feeds?.Remove(feed);

    /// <summary>Calls back when all messages that this topic has sent until now are stable; immediately if there is no sender.</summary>
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

    /// <summary>
    /// Sends the messages that may be sent. A call from within this method has no effect, because the outer call continues.
    /// </summary>
    public void Pump()
    {
        var budget = PullBudget.OneTurn;
        Pump(ref budget);
        if (budget.IsSpent && !_phase.IsBlocked)
        {
            Signal();
        }
    }

    private void Pump(ref PullBudget budget)
    {
        if (_phase.IsPumping || _phase.IsBlocked || _sender is not { } sender)
        {
            return;
        }

        _phase.BeginPump();
        bool areFeedsFirst = _phase.TakeTurnOfFeeds(_feeds is { IsEmpty: false });
        bool isWhole = false;
        try
        {
            if (areFeedsFirst)
            {
                PumpFeeds(sender, ref budget);
                PumpRequests(sender, ref budget);
            }
            else
            {
                PumpRequests(sender, ref budget);
                PumpFeeds(sender, ref budget);
            }

            isWhole = true;
        }
        finally
        {
            _phase.EndPump();
            if (!isWhole)
            {
                _intake.PumpLater(this);
            }
        }

        NoteQueue();
    }

    /// <summary>Whether messages wait here that are older than the first message in the lane.</summary>
    public bool IsQueued => First is { } first && first.Mark <= _intake.Lane.Next;

    /// <summary>Whether the lane has passed the oldest request's mark, or no request waits.</summary>
    public bool IsDue => First is null || IsQueued;

    /// <summary>Whether a message could be sent now. If not, the intake is resumed when one can be sent.</summary>
    public bool AwaitRoom()
    {
        if (_sender is not { } sender)
        {
            return true;
        }

        if (!_phase.IsBlocked && !sender.AwaitRoom())
        {
            _phase.Block();
        }

        return !_phase.IsBlocked;
    }

    /// <summary>Reads the data that a message on the direct path will read, to bring it into the cache, and has no other effect.</summary>
    public int Touch() => _phase.IsStraight ? _sender!.Touch() : 0;

    /// <summary>
    /// Sends the first message of the lane, or drops it if the topic has no sender any more. False: there is no room, or older messages
    /// wait.
    /// </summary>
    public bool TrySendFromLane(in LaneMessage message)
    {
        if (_phase.IsStraight && !_intake.HasInboxes)
        {
            return TrySend(_sender!, message);
        }

        if ((First is not null || Gate.HasInbox) && !TryCatchUp())
        {
            return false;
        }

        if (_sender is not { } sender)
        {
            return true;
        }

        if (_phase.IsBlocked || !TrySend(sender, message))
        {
            return false;
        }

        if (First is null && !_phase.IsBlocked)
        {
            _phase.BeginStraight();
        }
        else
        {
            _phase.EndStraight();
        }

        return true;
    }

    private bool TrySend(ITopicSender sender, in LaneMessage message)
    {
        if (_handover.TrySend(sender, message, _intake.Lane))
        {
            return true;
        }

        _phase.Block();
        return false;
    }

    /// <summary>
    /// Takes over the message that a detached feed had kept because there was no room. It precedes all messages that wait in the lane.
    /// </summary>
    public void TakeKept(PublishOrigin origin, byte[] buffer, int bytes, AttachedFeed feed)
    {
        if (_sender is null)
        {
            return;
        }

        var request = _intake.Adopt(origin, buffer, bytes);
        request.Mark = _intake.Lane.Next;
        request.Feed = feed;
        TakeOver(request);
        Pump();
    }

    /// <summary>Takes over a message that may not be the newest.</summary>
    public void TakeOver(PublishRequest request)
    {
        Gate.Charge(request.Charge);
        request.BeginWait();
        _phase.EndStraight();
        Queue.Insert(request);
        Gate.SetQueued(true);
    }

    // Sends the requests that were pushed before the first message in the lane.
    private bool TryCatchUp()
    {
        TakeInbox();
        if (IsQueued && _sender is { } sender && !_phase.IsPumping)
        {
            _phase.BeginPump();
            var budget = PullBudget.Unlimited;
            try
            {
                PumpRequests(sender, ref budget);
            }
            finally
            {
                _phase.EndPump();
            }
        }

        NoteQueue();
        return !IsQueued;
    }

    private void NoteQueue() => Gate.SetQueued(IsQueued);

    protected override void OnSignal() => Pump();

    /// <summary>Called when the gate's inbox has requests.</summary>
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
            // The lane may be stopped by another topic, and would not check this request by itself.
            _intake.Drain();
        }
    }

    private void TakeInbox()
    {
        var request = Gate.TakeInbox();
        long released = 0;
        while (request is not null)
        {
            var next = request.Next;
            _phase.EndStraight();
            if (request.EndedReason is { } reason)
            {
                // Not when its turn comes: the topic may be blocked for long.
                released += request.Fail(reason);
            }
            else
            {
                Queue.Append(request);
            }

            request = next;
        }

        Release(released);
    }

    /// <summary>The topic's turn. The lane is asked for what its head has for any topic, as it keeps the order of all.</summary>
    bool ISenderFeed.Pull(ref PullBudget budget)
    {
        _phase.Unblock();
        if (_phase.TakeTurnOfLane() && _feeds is { IsEmpty: false } && !IsQueued)
        {
            _intake.Pull(ref budget);
            Pump(ref budget);
        }
        else
        {
            Pump(ref budget);
            _intake.Pull(ref budget);
        }

        return budget.IsSpent && !_phase.IsBlocked && _sender is not null;
    }

    private void PumpRequests(ITopicSender sender, ref PullBudget budget)
    {
        long released = 0;
        try
        {
            PumpRequests(sender, ref budget, ref released);
        }
        finally
        {
            // Also when the heap has no memory for the next message: publishers wait for the room of those before.
            Release(released);
        }
    }

    private void PumpRequests(ITopicSender sender, ref PullBudget budget, ref long released)
    {
        while (First is { } request && !budget.IsSpent && !_phase.IsBlocked)
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

            if (request.Feed is { } feed && !TryReserveMark(feed))
            {
                break;
            }

            if (!_handover.TrySend(sender, request, Environment))
            {
                _phase.Block();
                break;
            }

            budget.Charge(request.Payload.Length + MessageHeader.Bytes);
            _queue!.RemoveFirst();
            released += request.Charge;
            request.Recycle();
        }
    }

    private void PumpFeeds(ITopicSender sender, ref PullBudget budget)
    {
        while (!budget.IsSpent && _feeds is { IsEmpty: false } feeds && AwaitRoom()
            && feeds.Next(budget, sender.RoomBytes, out var turn) is { } feed)
        {
            if (!TryReserveMark(feed))
            {
                break;
            }

            var left = turn;
            bool hasMore = feed.Pull(sender, ref left);
            int bytes = turn.Bytes - left.Bytes;
            budget.Charge(turn.Items - left.Items, bytes);
            feeds.OnGiven(feed, bytes, hasMore);
        }
    }

    // False: the heap has no memory to note what the feed would send. A refusal costs a collection, so it is asked again when a pause is
    // over.
    private bool TryReserveMark(AttachedFeed feed)
    {
        if (feed.HasRoomForMark || (!_intake.IsInterrupted(this) && feed.TryMakeRoomForMark()))
        {
            return true;
        }

        _intake.PumpLater(this);
        return false;
    }

    /// <summary>
    /// Sends a message of the feed whose turn it is. False: there is no room. A message for which there never will be counts as sent, and
    /// is lost with the reason.
    /// </summary>
    public bool TrySendFromFeed(ReadOnlySpan<byte> message, bool stampsTime, out Exception? lost)
    {
        lost = null;
        if (_sender is not { } sender)
        {
            return false;
        }

        if (_handover.TrySendFromFeed(sender, message, stampsTime ? Environment.UtcNow : null, out lost))
        {
            return true;
        }

        _phase.Block();
        return false;
    }

    /// <summary>
    /// Drops the queued messages of an ended endpoint, even if the topic is blocked, because the room of its publishers must not wait for
    /// the network.
    /// </summary>
    public void OnEndpointEnded()
    {
        TakeInbox();
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
