using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Sending;

namespace QuickSilver.Multicast.Ordering;

// One topic's outbound side: numbers its messages across regions and views, and puts each into the stream of every region
// of the topic's view. Until the first view is known there is no room.
internal sealed class TopicSender(ChannelSpec channel, TopicNumbers numbers, ISendingNode node) : ITopicSender
{
    private RegionSender[] _routes = [];
    private TopicView? _view;
    private readonly IOrderStamps? _stamps = node.Context.Options.Order.ForPublisher(node.Context, channel);
    private bool _isClosed;
    private bool _isStartTableFull = numbers.IsFull;
    // The topic's next message is its first in the view of a route, or may be.
    private bool _isStarting;
    // Of a best-effort topic: the last number that was told in all views, and whether it was told where the topic begins in them.
    private long _marked;
    private bool _isBeginUnmarked;

    public ulong TopicId { get; } = channel.Topic;
    public StreamClass Class { get; } = channel.Class;

    public bool IsReliable => Class.IsReliable;

    public string? Name { get; set; }

    /// <summary>For people.</summary>
    public string Label => Name is null ? $"topic {TopicId:x}" : $"topic \"{Name}\"";

    /// <summary>The membership service has said who subscribes.</summary>
    public bool HasView => _view is not null;
    public IRoomObserver? RoomObserver { get; set; }

    /// <summary>A flush barrier of its pinned topic is not released yet.</summary>
    public bool IsHeld { get; set; }

    public IReadOnlyList<RegionSender> Routes => _routes;
    // Another sender of the topic at this node; they hang together.
    public TopicSender? NextOfTopic { get; set; }

    /// <summary>TrySend said no, and RoomObserver was not told since.</summary>
    public bool IsWaiting { get; private set; }

    /// <summary>The last number taken, by whichever sender of the topic.</summary>
    public long Sent => numbers.Next - 1;

    public bool IsClosed => _isClosed;

    /// <summary>BestEffortMarks has it in its list.</summary>
    public bool IsMarkNoted { get; set; }

    /// <summary>How many messages were sent was told.</summary>
    public bool IsMarked => !_isBeginUnmarked && _marked == Sent;

    /// <summary>Where the topic begins was told in all views that it was sent into.</summary>
    public bool HasBegun => !_isBeginUnmarked;

    // To one region the largest message always goes: packet memory is no less.
    public long MostBytes => _routes.Length > 1 ? _routes[0].MostPayload(_routes.Length) : long.MaxValue;

    public bool HasRoom => CanTake(0);

    public int Touch() => (int)numbers.Next + _routes.Length + (_view is null || _isClosed ? 1 : 0);

    public bool IsStable
    {
        get
        {
            foreach (var route in _routes)
            {
                if (!route.IsSettled)
                {
                    return false;
                }
            }

            return true;
        }
    }

    public void Apply(TopicView view)
    {
        if (!view.Routed)
        {
            Unroute();
            return;
        }

        _view = view;
        // The configuration in which this node adopted the view: the view itself may be older than its membership.
        Prune();
        numbers.Add(Math.Max(view.Configuration, node.Configuration), numbers.Next);
        _isStartTableFull = numbers.IsFull;
        Route();
    }

    /// <summary>
    /// A new service does not know yet that this node publishes the topic, and the views of the old one are over: there is no
    /// room until it does. What was sent meanwhile would take numbers that reach nobody, and that subscribers wait for.
    /// </summary>
    public void Unroute() => _view = null;

    /// <summary>The streams that the topic uses were told of in this configuration.</summary>
    public void MarkRoutes(long configuration)
    {
        foreach (var route in _routes)
        {
            route.RoutedAt = configuration;
            if (!IsReliable && node.FindSender(route.View.RegionId, route.View.Number, StreamClass.Reliable) is { } marks)
            {
                marks.RoutedAt = configuration;
            }
        }
    }

    /// <summary>Finds the streams again after the views changed.</summary>
    public void Route()
    {
        _isStarting = true;
        FindRoutes();
    }

    private void FindRoutes()
    {
        if (_view is null)
        {
            _routes = [];
            return;
        }

        if (_view.Regions.Length == 1)
        {
            _routes = node.SenderFor(_view.Regions[0], Class)?.Alone ?? [];
            return;
        }

        var routes = new List<RegionSender>(_view.Regions.Length);
        foreach (ulong region in _view.Regions)
        {
            if (node.SenderFor(region, Class) is { } sender)
            {
                routes.Add(sender);
            }
        }

        _routes = [.. routes];
    }

    /// <summary>
    /// Forgets where those begin who know by now. A view of that time may still be in use, and its first message of the topic not have
    /// come to a member that hears of a newer view first: it would begin there, and take the rest for repeats. Who holds the first
    /// message of each view has begun.
    /// </summary>
    public void Prune()
    {
        if (numbers.IsLong && !_isBeginUnmarked && node.Sent.HasBegunEverywhere(TopicId))
        {
            numbers.ForgetOlder();
        }

        _isStartTableFull = numbers.IsFull;
    }

    public long TrySend(ReadOnlySpan<byte> payload, IStabilityObserver? observer, ReadOnlySpan<byte> extensions = default)
    {
        if (!CanTake(payload.Length))
        {
            if (payload.Length <= MostBytes)
            {
                Wait();
            }

            return -1;
        }

        return _stamps is null ? Send(payload, observer, extensions) : SendStamped(_stamps, payload, observer, extensions);
    }

    private long SendStamped(
        IOrderStamps stamps, ReadOnlySpan<byte> payload, IStabilityObserver? observer, ReadOnlySpan<byte> extensions)
    {
        Span<byte> fields = stackalloc byte[MessageExtensions.MostBytes];
        extensions.CopyTo(fields);
        Span<byte> stamp = stackalloc byte[MessageExtensions.MostBytes];
        int bytes = stamps.Write(numbers.Next, stamp);
        int used = MessageExtensions.Add(fields, extensions.Length, ExtensionKind.OrderStamp, stamp[..bytes]);
        return used >= 0 ? Send(payload, observer, fields[..used]) : throw new InvalidOperationException(
            $"The extensions of a message in {Label} leave no room for its order stamp: {extensions.Length} and {bytes} bytes, and "
            + $"{MessageExtensions.MostBytes} are the most.");
    }

    private long Send(ReadOnlySpan<byte> payload, IStabilityObserver? observer, ReadOnlySpan<byte> extensions)
    {
        long sequence = numbers.Next++;
        StabilityClaim? claim = null;
        if (observer is not null)
        {
            if (_routes.Length == 0)
            {
                node.CompleteLater(observer, sequence);
            }
            else
            {
                claim = StabilityClaim.Rent(node.ClaimPool, observer, sequence, _routes.Length);
            }
        }

        bool begins = false;
        var sent = node.Sent;
        foreach (var route in _routes)
        {
            var starts = _isStarting && !route.HasStarted(TopicId) ? numbers : null;
            begins |= starts is not null;
            route.Append(TopicId, sequence, starts, extensions, payload, claim);
            sent.FlushSoon(route);
        }

        _isStarting = false;
        sent.OnMessageSent();
        if (!IsReliable && _routes.Length > 0)
        {
            _isBeginUnmarked |= begins;
            node.Marks.OnSent(this, begins);
        }

        return sequence;
    }

    public bool AwaitRoom()
    {
        // What can never be taken is to be tried, and refused.
        if (HasRoom || MostBytes < 0)
        {
            return true;
        }

        Wait();
        return false;
    }

    /// <summary>
    /// Of a best-effort topic: tells in the reliable streams into its views how many messages were sent. False when one has no room.
    /// </summary>
    public bool TryMark()
    {
        if (_view is null && !_isClosed)
        {
            return false;
        }

        Span<byte> mark = stackalloc byte[TopicMark.Bytes];
        new TopicMark(TopicId, Sent).Write(mark);
        foreach (var route in _routes)
        {
            if (route.SupersededAt != 0 || node.SenderFor(route.View.RegionId, StreamClass.Reliable) is not { } stream)
            {
                continue;
            }

            if (!stream.TryMark(TopicId, numbers, mark))
            {
                return false;
            }

            node.Sent.FlushSoon(stream);
        }

        node.Sent.PostFlush();
        _marked = Sent;
        _isBeginUnmarked = false;
        return true;
    }

    public void WhenStable(Action callback) => node.WhenStable(callback);

    public void SignalRoom()
    {
        IsWaiting = false;
        RoomObserver?.OnRoom();
    }

    public void Close()
    {
        _isClosed = true;
        IsWaiting = false;
        if (IsMarkNoted)
        {
            TryMark();
        }

        node.Forget(this);
    }

    private void Wait()
    {
        if (!IsWaiting)
        {
            IsWaiting = true;
            node.Wait(this);
        }
    }

    private bool CanTake(int payloadBytes)
    {
        if (_isStartTableFull)
        {
            Prune();
        }

        if (_view is null || _isClosed || IsHeld || _isStartTableFull || numbers.Next > numbers.CreditThrough)
        {
            return false;
        }

        foreach (var route in _routes)
        {
            if (!route.CanTake(payloadBytes))
            {
                return false;
            }
        }

        return HasPacketMemory(payloadBytes);
    }

    // For the message in all its streams together: each may need blocks of its own.
    private bool HasPacketMemory(int payloadBytes)
    {
        if (_routes.Length == 0)
        {
            return true;
        }

        long free = _routes[0].FreeBlocks;
        if (free > (long)_routes.Length * _routes[0].MostBlocks(payloadBytes) || free > BlocksFor(payloadBytes))
        {
            return true;
        }

        node.Sent.RestSettled();
        if (_routes[0].FreeBlocks > BlocksFor(payloadBytes))
        {
            return true;
        }

        node.LookForMemoryAgain();
        return false;
    }

    private long BlocksFor(int payloadBytes)
    {
        long blocks = 0;
        foreach (var route in _routes)
        {
            blocks += route.BlocksFor(payloadBytes);
        }

        return blocks;
    }
}
