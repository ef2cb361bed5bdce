using QuickSilver.Core.Environment;
using QuickSilver.Diagnostics;
using QuickSilver.Endpoints;
using QuickSilver.Multicast;
using QuickSilver.Nodes;

namespace QuickSilver.Publishing;

// The core thread's side of publishing to one topic: hands requests to the topic's sender in order for as long as it has
// room, and lets feeds fill what room is left. Publishes and feeds take turns at being first, so neither starves.
internal sealed class TopicPublisher
{
    // Messages handed down in one go: the core thread must come back to tokens and receives.
    private const int TurnMessages = 1024;

    private readonly INodeEnvironment _environment;
    private readonly NodeTally _tally;
    private readonly LatencyProbe _latency;
    private readonly SignalRequest _continue;
    private readonly List<AttachedFeed> _feeds = [];
    private ITopicSender? _sender;
    private PublishRequest? _head;
    private PublishRequest? _tail;
    private int _nextFeed;
    // What those are told that come after the sender was closed.
    private Exception _closeReason = new InvalidOperationException("The topic is not open to publish.");
    private bool _isBlocked;
    private bool _isPumping;
    private bool _feedsFirst;

    public TopicPublisher(INodeEnvironment environment, NodeTally tally, PublishBudget budget, LatencyProbe latency)
    {
        _environment = environment;
        _tally = tally;
        _latency = latency;
        _continue = new SignalRequest(environment, Pump);
        Gate = new PublishGate(environment, budget, OnInbox);
    }

    public PublishGate Gate { get; }

    /// <summary>Messages taken by the topic's senders so far.</summary>
    public long Sent { get; private set; }

    public bool HasSender => _sender is not null;

    public void Open(ITopicSender sender)
    {
        _sender = sender;
        _isBlocked = false;
        sender.OnRoom = OnRoom;
        Pump();
    }

    /// <summary>Closes the sender; what still waits fails, except markers, which are called.</summary>
    public void Close(Exception reason)
    {
        _sender?.Close();
        _sender = null;
        _closeReason = reason;
        FailQueue();
    }

    public void Add(AttachedFeed feed)
    {
        _feeds.Add(feed);
        Pump();
    }

    public void Remove(AttachedFeed feed)
    {
        int at = _feeds.IndexOf(feed);
        if (at >= 0)
        {
            _feeds.RemoveAt(at);
            _nextFeed = 0;
        }
    }

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
        _feedsFirst = !_feedsFirst && _feeds.Count > 0;
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

        if (left <= 0 && !_isBlocked)
        {
            _continue.Signal();
        }
    }

    private void OnInbox()
    {
        var request = Gate.TakeInbox();
        while (request is not null)
        {
            var next = request.Next;
            request.Next = null;
            if (_tail is null)
            {
                _head = request;
            }
            else
            {
                _tail.Next = request;
            }

            _tail = request;
            request = next;
        }

        if (_sender is null)
        {
            FailQueue();
        }
        else
        {
            Pump();
        }
    }

    private void OnRoom()
    {
        _isBlocked = false;
        Pump();
    }

    private void PumpRequests(ITopicSender sender, ref int left)
    {
        long released = 0;
        while (_head is { } request && left > 0 && !_isBlocked)
        {
            if (EndedReason(request) is { } reason)
            {
                Unlink(request);
                released += Finish(request, reason);
                continue;
            }

            if (request.Marker is { } marker)
            {
                Unlink(request);
                released += request.Charge;
                request.Recycle();
                marker();
                continue;
            }

            left--;
            if (!TrySend(sender, request))
            {
                _isBlocked = true;
                break;
            }

            Unlink(request);
            released += request.Charge;
            request.Recycle();
        }

        if (released > 0)
        {
            Gate.Release(released);
        }
    }

    private bool TrySend(ITopicSender sender, PublishRequest request)
    {
        if (request.Stable is { } stable)
        {
            // Joins the list first: a message without subscribers is stable before TrySend returns.
            stable.Begin(_environment.Now);
            request.Origin!.Unstable.Add(stable);
            if (sender.TrySend(request.Payload, stable) < 0)
            {
                request.Origin.Unstable.Remove(stable);
                return false;
            }
        }
        else
        {
            var probe = _latency.TryBegin();
            if (sender.TrySend(request.Payload, probe) < 0)
            {
                if (probe is not null)
                {
                    _latency.GiveUp();
                }

                return false;
            }
        }

        Count(request.Payload.Length);
        return true;
    }

    private void PumpFeeds(ITopicSender sender, ref int left)
    {
        for (int idle = 0; idle < _feeds.Count && left > 0 && !_isBlocked;)
        {
            if (_nextFeed >= _feeds.Count)
            {
                _nextFeed = 0;
            }

            var feed = _feeds[_nextFeed++];
            if (!feed.TryFill())
            {
                idle++;
                continue;
            }

            idle = 0;
            left--;
            if (sender.TrySend(feed.Filled, null) < 0)
            {
                _isBlocked = true;
                _nextFeed--;
                return;
            }

            Count(feed.Filled.Length);
            feed.OnSent();
        }
    }

    // A blocked topic still lets go of what was cancelled: its publishers' room must not wait for the network.
    private void SkipEnded()
    {
        long released = 0;
        PublishRequest? kept = null;
        for (var request = _head; request is not null;)
        {
            var next = request.Next;
            if (EndedReason(request) is { } reason)
            {
                if (kept is null)
                {
                    _head = next;
                }
                else
                {
                    kept.Next = next;
                }

                released += Finish(request, reason);
            }
            else
            {
                kept = request;
            }

            request = next;
        }

        _tail = kept;
        if (released > 0)
        {
            Gate.Release(released);
        }
    }

    /// <summary>Lets go of what a cancelled endpoint had queued.</summary>
    public void OnEndpointEnded()
    {
        SkipEnded();
        Pump();
    }

    private void FailQueue()
    {
        long released = 0;
        while (_head is { } request)
        {
            Unlink(request);
            released += Finish(request, _closeReason);
        }

        if (released > 0)
        {
            Gate.Release(released);
        }
    }

    private static Exception? EndedReason(PublishRequest request) => request switch
    {
        { Marker: not null } => null,
        { Stable.IsWithdrawn: true } => new OperationCanceledException(),
        { Origin.DropReason: { } reason } => reason,
        _ => null,
    };

    private static long Finish(PublishRequest request, Exception reason)
    {
        long charge = request.Charge;
        var marker = request.Marker;
        request.Stable?.Fail(reason);
        request.Recycle();
        marker?.Invoke();
        return charge;
    }

    private void Unlink(PublishRequest request)
    {
        _head = request.Next;
        if (_head is null)
        {
            _tail = null;
        }
    }

    private void Count(int bytes)
    {
        Sent++;
        _tally.Published++;
        _tally.PublishedBytes += bytes;
    }
}
