using QuickSilver.Endpoints.Consumers;
using QuickSilver.Endpoints.Rings;

namespace QuickSilver.Endpoints;

// The orderly end of the subscribing half. First the topic leaves this endpoint out, so that nothing more is acknowledged for it. Then
// everything that was acknowledged is handed on: handlers get it at once, and a reader or consumer reads it from the buffer at its own
// pace. What is left at a limit is dropped, and reported: as a gap, in the log, and at the end.
//
// Invariant (I25): each message that came for an endpoint with a reader, a consumer or a handler is handled or reported.
internal sealed partial class TopicEndpoint<T>
{
    // A service that is there answers within a fraction of a second. Without one, nothing can keep away what is still sent. This is less
    // than a host gives its consumers, so that one which is idle ends in order while there is no service.
    private static readonly TimeSpan LeaveLimit = TimeSpan.FromSeconds(3);

    // Null while the subscription continues: there are thousands of idle topics.
    private LeavingState? _leaving;
    private volatile bool _isOver;
    private volatile bool _isCancelled;

    private bool IsStopped => Volatile.Read(ref _leaving) is { HasBegun: true };

    private LeavingState Leaving => LazyInitializer.EnsureInitialized(ref _leaving, () => new LeavingState(Topic.Node.Completions));

    // Whether the endpoint takes nothing more although the topic may not have left it out yet.
    private bool IsEndedByCaller => _isCancelled || (_isOver && State != EndpointState.Failed);

    // Under the lock: whether no reader or consumer has anything left to read or to handle.
    private bool IsRead => _consumptions.Length == 0 && _ring is not { HasReader: true, HasUnread: true };

    // With the node's end, the others hand on what they have, and then end with an error.
    private bool DropsUnread => _isCancelled || State == EndpointState.Disposed;

    // Whether a reader or a handler has ever been attached. Otherwise nothing misses the messages.
    private bool IsHeard => _ring is { IsClaimed: true };

    /// <summary>From any thread: leaves the topic. Completes when the buffer has everything that this endpoint gets.</summary>
    internal Task LeaveAsync() => LeaveWithinAsync(LeaveLimit);

    /// <summary>From any thread: leaves the topic without waiting for what has not come yet.</summary>
    internal async Task LeaveNowAsync()
    {
        var left = BeginLeave();
        Topic.Node.Run(() => Topic.EndLeave(this));
        await Within(left, DisposeLeaveLimit).ConfigureAwait(Topic.Node.ResumesInContext);
    }

    /// <summary>From any thread, when the topic was left: drops what the reader has not read. The reader reports it, and ends.</summary>
    internal void DropUnread() => EndRing(error: null, discard: true);

    public override void LiftBuffer() => _ring?.Lift();

    public override void OnLeft(IReadOnlyList<GapNotice> untaken)
    {
        EndAccess();
        if (IsEndedByCaller)
        {
            ReportTooLate(untaken);
            return;
        }

        if (_ring is null || _isOver)
        {
            return;
        }

        long rest = GiveUp(untaken);
        EndRing(error: null, discard: false);
        EndHandlers(TakeHandlers(), SubscriptionEnd.Of(null, isCancelled: false) with { Unhandled = rest });
    }

    public override void OnHandedOver(IReadOnlyList<GapNotice> untaken)
    {
        if (_ring is not null && !_isOver && untaken.Count > 0)
        {
            Leaving.GivenUp = GiveUp(untaken);
        }
    }

    public override Task WhenRead()
    {
        lock (Topic)
        {
            // What was dropped does not wait any more, but its reader still has to report it.
            return _leaving?.Read is null && IsRead
                ? Task.CompletedTask
                : (Leaving.Read ??= new TaskCompletionSource(Topic.Node.Completions)).Task;
        }
    }

    public override void EndReading()
    {
        if (!DropsUnread || _ring is null)
        {
            return;
        }

        EndRing(error: null, discard: true);
        // The ring knows only the one that still reads it.
        foreach (var consumption in Consumptions())
        {
            consumption.OnDiscarded();
        }
    }

    public override void ReportUnread()
    {
        if (!DropsUnread || _ring is null)
        {
            return;
        }

        var unread = new UnhandledMessages();
        lock (Topic)
        {
            if (_ring.HasReader)
            {
                Leaving.IsUnreadReported = true;
                unread.AddAll(_ring.PeekUnread());
            }
        }

        foreach (var consumption in Consumptions())
        {
            unread.AddAll(consumption.TakeUnreported().Ranges());
        }

        unread.Report(Topic.Node, Name);
    }

    void IRingOwner.OnReaderEnded(UnhandledMessages? unhandled)
    {
        if (_leaving is not { IsUnreadReported: true })
        {
            unhandled?.Report(Topic.Node, Name);
        }

        OnReaderEnded();
    }

    /// <summary>Any thread: all parts of the consumer have ended.</summary>
    internal void OnConsumerEnded(Consumption<T> consumption)
    {
        consumption.TakeUnreported().Report(Topic.Node, Name);
        lock (Topic)
        {
            _consumptions = [.. _consumptions.Where(other => other != consumption)];
        }

        OnReaderEnded();
    }

    /// <summary>
    /// A consumer leaves the ring. Returns what there will be no other reader for, and whether that was reported without the consumer.
    /// </summary>
    internal (IReadOnlyList<GapNotice> Left, bool IsReported) DetachConsumer()
    {
        lock (Topic)
        {
            return (_ring!.Detach(), _leaving is { IsUnreadReported: true });
        }
    }

    private Consumption<T>[] Consumptions()
    {
        lock (Topic)
        {
            return _consumptions;
        }
    }

    private void OnReaderEnded()
    {
        if (Volatile.Read(ref _leaving) is not { } leaving)
        {
            return;
        }

        TaskCompletionSource? read;
        bool isRemoved;
        lock (Topic)
        {
            if (!IsRead)
            {
                // Another one continues.
                return;
            }

            (read, leaving.Read) = (leaving.Read, null);
            isRemoved = leaving.IsRemovedWhenRead;
        }

        read?.TrySetResult();
        if (isRemoved)
        {
            Topic.Node.EndpointRegistry.Remove(this);
        }
    }

    // Core thread: what waits below this endpoint will not come. A reader reports it when it gets there.
    private long GiveUp(IReadOnlyList<GapNotice> untaken)
    {
        var rest = new UnhandledMessages();
        foreach (var gap in untaken)
        {
            Tell(gap);
            rest.Add(gap);
        }

        if (IsHeard)
        {
            Interlocked.Add(ref Topic.Node.CounterCells.UnhandledUntaken, rest.Count);
        }

        if (_ring!.IsOff)
        {
            rest.Report(Topic.Node, Name);
        }

        return rest.Count;
    }

    // Core thread, after a cancellation: what waits below this endpoint is reported to its handlers. Its buffer takes nothing any more.
    private long TellUntaken(HandlerEndpoint<T>[] handlers)
    {
        long untaken = 0;
        foreach (var gap in Topic.UntakenOf(this))
        {
            Array.ForEach(handlers, handler => handler.Tell(gap));
            untaken += gap.Count;
        }

        return untaken;
    }

    // Core thread: a message that came when the endpoint took nothing more, until the topic has left it out.
    private void NoteTooLate(NodeId sender, long sequence) =>
        (Leaving.TooLate ??= new UnhandledMessages()).Add(sender, sequence);

    // What came between the end of this endpoint and the moment at which the topic was left.
    private void ReportTooLate(IReadOnlyList<GapNotice> untaken)
    {
        if (IsHeard)
        {
            var unhandled = new UnhandledMessages();
            unhandled.AddAll(untaken);
            Interlocked.Add(ref Topic.Node.CounterCells.UnhandledUntaken, unhandled.Count);
            unhandled.AddAll(Leaving.TooLate?.Ranges() ?? []);
            unhandled.Report(Topic.Node, Name);
        }

        Leaving.TooLate = null;
    }

    // The node waits for a reader of this endpoint, and drops what it does not read in time.
    private void RemoveWhenRead()
    {
        lock (Topic)
        {
            if (_consumptions.Length > 0 || _ring is { HasReader: true })
            {
                Leaving.IsRemovedWhenRead = true;
                return;
            }
        }

        Topic.Node.EndpointRegistry.Remove(this);
    }

    // What no reader will read any more is reported here. What a reader does not read is reported when the reader ends.
    private void EndRing(Exception? error, bool discard)
    {
        if (_ring is not null)
        {
            var unread = _ring.End(error, discard);
            var unhandled = new UnhandledMessages();
            unhandled.AddAll(unread);
            unhandled.Report(Topic.Node, Name);
            var dropped = new UnhandledMessages(GapReason.ReaderFull);
            dropped.AddAll(unread);
            dropped.ReportDropped(Topic.Node, Name);
        }
    }

    private (HandlerEndpoint<T>[] Handlers, TopicObserver<T>[] Observers) TakeHandlers()
    {
        lock (Topic)
        {
            var taken = (_handlers, _observers);
            Volatile.Write(ref _handlers, []);
            ChooseDirect();
            _observers = [];
            return taken;
        }
    }

    private static void EndHandlers((HandlerEndpoint<T>[] Handlers, TopicObserver<T>[] Observers) taken, SubscriptionEnd end)
    {
        foreach (var handler in taken.Handlers)
        {
            handler.End(end);
        }

        foreach (var observer in taken.Observers)
        {
            observer.End(end.Error);
        }
    }

    private async Task LeaveWithinAsync(TimeSpan limit)
    {
        if (!await Within(BeginLeave(), limit).ConfigureAwait(Topic.Node.ResumesInContext))
        {
            await LeaveNowAsync().ConfigureAwait(Topic.Node.ResumesInContext);
        }
    }

    private Task<bool> BeginLeave()
    {
        var leaving = Leaving;
        if (leaving.TryBegin())
        {
            Topic.Node.Run(() => Topic.BeginLeave(this, leaving.OnLeft));
        }

        return leaving.Left;
    }
}
