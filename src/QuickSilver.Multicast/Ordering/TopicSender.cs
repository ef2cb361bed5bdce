using System.Runtime.CompilerServices;
using QuickSilver.Core.Flow;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;
using QuickSilver.Multicast.Hybrid;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Ordering.BestEffort;
using QuickSilver.Multicast.Ordering.Routes;
using QuickSilver.Multicast.Sending;
using QuickSilver.Multicast.Sending.Acknowledgement;

namespace QuickSilver.Multicast.Ordering;

// The outbound side of one topic: numbers its messages across regions and views, and packs each into the stream of every region of the
// topic's view. Until the first view is known, there is no room.
//
// Invariant: a message goes into all regions of the topic's view or takes no number. While the view of one of them is not known, there is
// no room: its members would never hear of the message.
internal sealed class TopicSender(ChannelSpec channel, TopicNumbers numbers, ISendingNode node)
    : ITopicSender, ITopicFeed, IHybridTopic
{
    // Not readonly: it is a struct that has state of its own.
    private TopicRoutes _routes = new();
    // Null until the topic has an address of its own.
    private HybridSender? _hybrid;
    // Whether there is a stream into each region of the topic's view. Beside the others, because a struct with a bool is 8 bytes larger.
    private bool _isRouted;
    private bool _isClosed;
    private bool _isStartTableFull = numbers.IsFull;
    // Whether the topic's next message is, or may be, its first in the view of a route.
    private bool _isStarting;
    // For a best-effort topic: the last number marked in all views, and whether a view still lacks the mark of the topic's beginning.
    private long _marked;
    private bool _isBeginUnmarked;

    public ulong TopicId { get; } = channel.Topic;
    public StreamClass Class { get; } = channel.Class;

    /// <summary>Whether the topic's newest view, as far as this sender was open, has no subscriber.</summary>
    public bool IsUnheard => _routes.IsUnheard;

    public bool IsReliable => Class.IsReliable;
    public string? Name { get; set; }

    /// <summary>A text for log messages.</summary>
    public string Label => Name is null ? $"topic {TopicId:x}" : $"topic \"{Name}\"";

    /// <summary>Whether the membership service has sent the topic's view.</summary>
    public bool HasView => _routes.HasView;

    /// <summary>The first region of the topic's view whose own view is not known here; null if there is none.</summary>
    public ulong? UnknownRegion => _routes.UnknownRegion;

    public ISenderFeed? Feed { get; set; }

    /// <summary>Whether a flush barrier of the pinned topic is not released yet.</summary>
    public bool IsHeld { get; set; }

    public IReadOnlyList<RegionSender> Routes => _routes.Streams;

    // The next older sender of the topic at this node, in a linked list.
    public TopicSender? NextOfTopic { get; set; }

    /// <summary>Whether the topic has a message and waits for its turn, or for room.</summary>
    public bool IsInLine { get; set; }

    /// <summary>The last number used by any sender of the topic at this node.</summary>
    public long Sent => numbers.Next - 1;
    long ITopicSender.Count => Sent;

    public bool IsClosed => _isClosed;

    /// <summary>Whether BestEffortMarks has the topic in its list.</summary>
    public bool IsMarkNoted { get; set; }

    /// <summary>Whether the number of messages sent is marked.</summary>
    public bool IsMarked => !_isBeginUnmarked && _marked == Sent;

    /// <summary>Whether the topic's beginning is marked in all views into which it was sent.</summary>
    public bool HasBegun => !_isBeginUnmarked;

    // One region always accepts the largest message: packet memory is never smaller than that.
    public long MostBytes => _routes.MostBytes;

    public bool HasRoom => CanTake(0);

    public int RoomBytes => _hybrid is { } hybrid ? Math.Min(_routes.RoomBytes, hybrid.RoomBytes) : _routes.RoomBytes;

    public int Touch() => (int)numbers.Next + _routes.Streams.Length + (!_isRouted || _isClosed ? 1 : 0);

    public bool IsStable => _hybrid is not { IsEmpty: false } && _routes.IsSettled;

    public void Apply(TopicView view)
    {
        if (!view.Routed)
        {
            Unroute();
            return;
        }

        _routes.Apply(view);
        // The configuration in which this node applied the view. The view itself may be older than the node's membership.
        Prune();
        numbers.Add(Math.Max(view.Configuration, node.Configuration), numbers.Next);
        _isStartTableFull = numbers.IsFull;
        Route();
    }

    /// <summary>
    /// Removes the topic's view. A new membership service does not know yet that this node publishes the topic, and the views of the old
    /// service are over, so the topic has no room until the new service knows. A message sent meanwhile would take a number that reaches no
    /// subscriber, and subscribers would wait for it.
    /// </summary>
    public void Unroute()
    {
        _routes.Unroute();
        _isRouted = false;
    }

    /// <summary>Records that the topic uses its streams in this configuration.</summary>
    public void MarkRoutes(long configuration)
    {
        foreach (var route in _routes.Streams)
        {
            route.RoutedAt = configuration;
            if (!IsReliable && node.FindSender(route.View.RegionId, route.View.Number, StreamClass.Reliable) is { } marks)
            {
                marks.RoutedAt = configuration;
            }
        }
    }

    /// <summary>Finds the streams after the views have changed.</summary>
    public void Route()
    {
        _isStarting = true;
        _isRouted = _routes.Find(node, Class);
        var address = node.Sending.GroupPort is null ? null : _routes.Address;
        if (address is not null && _hybrid is null)
        {
            node.Sent.Shared.Add(_hybrid = new HybridSender(node.Sending, this));
        }

        _hybrid?.Route(_routes.Streams, address?.EndPoint, address?.Since ?? 0);
    }

    /// <summary>
    /// Removes the start table's entries for receivers that already know where their run begins. A view of that time may still be in use,
    /// and its first message of the topic may not have reached a member that receives a message of a newer view first. Without the entries,
    /// that member would begin with the newer view and treat the rest as duplicates. A member that holds the first message of each view
    /// knows where its run begins.
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
        if (!CanTake(payload.Length, out bool isTight))
        {
            if (payload.Length <= MostBytes)
            {
                Wait();
            }

            return -1;
        }

        if (isTight && !TryReserve(payload.Length))
        {
            return -1;
        }

        return Send(payload, observer, extensions);
    }

    // False: there is no memory for the tables of a stream, and the topic waits.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private bool TryReserve(int payloadBytes)
    {
        bool isReserved = RegionSender.TryReserve(_routes.Streams, _routes.MostPackets(payloadBytes), claims: 1, _isStarting);
        if (!isReserved)
        {
            node.Wait(this);
        }

        return isReserved;
    }

    private long Send(ReadOnlySpan<byte> payload, IStabilityObserver? observer, ReadOnlySpan<byte> extensions)
    {
        long sequence = numbers.Next;
        StabilityClaim? claim = null;
        if (observer is not null)
        {
            if (_routes.Streams.Length == 0)
            {
                node.CompleteLater(observer, sequence);
            }
            else
            {
                claim = node.Claims.Rent(observer, sequence, _routes.Streams.Length);
            }
        }

        numbers.Next = sequence + 1;
        if (IsHybrid(payload.Length))
        {
            _hybrid!.Append(sequence, extensions, payload, claim);
            OnSent(begins: false);
            return sequence;
        }

        bool begins = false;
        bool isFlushNoted = true;
        foreach (var route in _routes.Streams)
        {
            var starts = _isStarting && !route.HasStarted(TopicId) ? numbers : null;
            begins |= starts is not null;
            route.Append(TopicId, sequence, starts, extensions, payload, claim);
            isFlushNoted &= route.IsFlushNoted;
        }

        if (!isFlushNoted)
        {
            FlushSoon();
        }

        _isStarting = false;
        OnSent(begins);
        return sequence;
    }

    // Not before all routes have the message: to note it may need memory.
    private void FlushSoon()
    {
        foreach (var route in _routes.Streams)
        {
            route.FlushSoon();
        }
    }

    private void OnSent(bool begins)
    {
        node.Context.Counters.MessagesSent++;
        if (!IsReliable && _routes.Streams.Length > 0)
        {
            _isBeginUnmarked |= begins;
            node.Marks.OnSent(this, begins);
        }
    }

    // Whether a message is sent once to the topic's address. The first in a view is not: it carries the start table.
    private bool IsHybrid(int payloadBytes) => _hybrid is { } hybrid && hybrid.Takes(payloadBytes) && HasStartedEverywhere();

    private bool HasStartedEverywhere()
    {
        _isStarting = _isStarting && !_routes.HaveStarted(TopicId);
        return !_isStarting;
    }

    long IHybridTopic.Settled => node.Settled;

    bool IHybridTopic.HasBegunIn(RegionSender route) => IsReliable
        ? route.HasBegun(TopicId)
        : HasBegun && node.FindSender(route.View.RegionId, route.View.Number, StreamClass.Reliable) is { } marks && marks.HasBegun(TopicId);

    void IHybridTopic.AwaitProgress(IFeed feed) => node.Wait(feed);

    public void ObserveTaken(IStabilityObserver observer, long number, bool isLast)
    {
        if (_routes.Streams.Length == 0)
        {
            observer.OnStable(number);
            return;
        }

        // The last message has made room for the claim.
        var claim = node.Claims.Rent(observer, number, _routes.Streams.Length);
        if (_hybrid is { IsEmpty: false } hybrid)
        {
            hybrid.Claim(claim, isLast);
            return;
        }

        foreach (var route in _routes.Streams)
        {
            route.ClaimPacked(claim, isLast);
        }
    }

    public bool AwaitRoom()
    {
        // A message that can never be accepted must be tried, so that it is refused.
        if (HasRoom || MostBytes < 0)
        {
            return true;
        }

        Wait();
        return false;
    }

    /// <summary>
    /// For a best-effort topic: marks in the reliable streams into its views how many messages were sent. False when one of the streams has
    /// no room.
    /// </summary>
    public bool TryMark()
    {
        if (!_isRouted && !_isClosed)
        {
            return false;
        }

        Span<byte> mark = stackalloc byte[TopicMark.Bytes];
        new TopicMark(TopicId, Sent).Write(mark);
        foreach (var route in _routes.Streams)
        {
            if (route.SupersededAt != 0 || node.SenderFor(route.View.RegionId, StreamClass.Reliable) is not { } stream)
            {
                continue;
            }

            if (!stream.TryMark(TopicId, numbers, mark))
            {
                return false;
            }

            stream.FlushSoon();
        }

        _marked = Sent;
        _isBeginUnmarked = false;
        return true;
    }

    public void WhenStable(Action callback) => node.WhenStable(callback);

    /// <summary>The topic's turn: its feed gives messages while there is room.</summary>
    public bool Pull(ref PullBudget budget)
    {
        if (_isClosed)
        {
            return false;
        }

        if (!HasRoom)
        {
            Wait();
            return false;
        }

        return Feed?.Pull(ref budget) ?? false;
    }

    public void OnStreamClosed() => node.Wait(this);

    public void Close()
    {
        _isClosed = true;
        if (_hybrid is { } hybrid)
        {
            hybrid.Close();
            node.Sent.Shared.Remove(hybrid);
            _hybrid = null;
        }

        if (IsMarkNoted)
        {
            TryMark();
        }

        node.Forget(this);
    }

    // In the line of a stream whose run is full, or in that of the node, which is served when anything has changed.
    private void Wait()
    {
        if (IsInLine)
        {
            return;
        }

        if (_routes.FirstFull is { } full)
        {
            node.Await(full, this);
            return;
        }

        if (_hybrid is { IsEmpty: false } hybrid)
        {
            hybrid.Await(this);
            return;
        }

        node.Wait(this);
        var limit = Limit;
        foreach (var route in _routes.Streams)
        {
            route.Signs.OnTopicLimited(limit);
        }
    }

    /// <summary>
    /// What keeps the topic from sending a message that it has; that of its first stream with a limit, if it is not the topic's own.
    /// </summary>
    public StreamLimit Limit
    {
        get
        {
            if (!IsInLine)
            {
                return StreamLimit.Idle;
            }

            if (!_isRouted || IsHeld)
            {
                return StreamLimit.View;
            }

            if (numbers.Next > numbers.CreditThrough)
            {
                return StreamLimit.Reader;
            }

            return _routes.Limit is not StreamLimit.Idle and var limit ? limit : StreamLimit.Memory;
        }
    }

    private bool CanTake(int payloadBytes) => CanTake(payloadBytes, out _);

    // Whether the tables of a stream have to grow before is found in the same pass over the routes, because it is asked for each message.
    // Room for a claim is made even if the message has no observer: a feed has one for the messages that it has given, which have their
    // numbers by then.
    private bool CanTake(int payloadBytes, out bool isTight)
    {
        isTight = false;
        if (_isStartTableFull)
        {
            Prune();
        }

        if (!_isRouted || _isClosed || IsHeld || _isStartTableFull || numbers.Next > numbers.CreditThrough)
        {
            return false;
        }

        foreach (var route in _routes.Streams)
        {
            if (!route.CanTake(payloadBytes))
            {
                return false;
            }

            isTight |= route.IsTight(route.Packer.MostPackets(payloadBytes), claims: 1, _isStarting);
        }

        return HasRoomBehindRun(payloadBytes) && RouteMemory.Has(_routes.Streams, payloadBytes, node);
    }

    // A message that does not go into the shared run waits until the run has its numbers. Otherwise it would precede messages with lower
    // numbers in each stream: receivers would hold it for them, and would not read as far as them.
    private bool HasRoomBehindRun(int payloadBytes) =>
        _hybrid is not { } hybrid || (IsHybrid(payloadBytes) ? hybrid.HasRoomFor(payloadBytes) : hybrid.IsEmpty);
}
