using QuickSilver.Multicast.Channels;

namespace QuickSilver.Endpoints.Subscriptions;

// The subscribing half of an endpoint, independent of the payload type, and its orderly end. First the topic leaves this endpoint out, so
// that nothing more is acknowledged for it. Then everything that was acknowledged is handed on: handlers get it at once, and a reader or
// consumer reads it from the buffer at its own pace. What is left at a limit is dropped, and reported: as a gap, in the log, and at the
// end.
//
// The topic object is the lock for the handlers, because a lock of its own would cost 40 bytes for each idle endpoint.
//
// Invariant (I25): each message that came for an endpoint with a reader, a consumer or a handler is handled or reported.
internal abstract class TopicSubscription
{
    // A service that is there answers within a fraction of a second. Without one, nothing can keep away what is still sent. This is less
    // than a host gives its consumers, so that one which is idle ends in order while there is no service.
    private static readonly TimeSpan LeaveLimit = TimeSpan.FromSeconds(3);
    private static readonly TimeSpan LeaveNowLimit = TimeSpan.FromMilliseconds(250);

    // Null while the subscription has none of it: there are thousands of idle topics.
    private SubscriptionExtras? _extras;

    protected TopicSubscription(TopicEndpoint endpoint, TimeSpan? slowReaderLimit)
    {
        Endpoint = endpoint;
        if (slowReaderLimit is { } limit)
        {
            _extras = new SubscriptionExtras { Watch = new SlowReaderWatch(endpoint.Topic, endpoint, limit) };
        }
    }

    public TopicEndpoint Endpoint { get; }

    public EndpointTopic Topic => Endpoint.Topic;

    /// <summary>The topic's name.</summary>
    public string Name => Endpoint.Name;

    /// <summary>Null if its reader may take any time.</summary>
    public SlowReaderWatch? Watch => _extras?.Watch;

    /// <summary>Whether this endpoint gets no messages that this node has published.</summary>
    public bool SkipsOwn { get; protected init; }

    /// <summary>Whether it has left the topic in order.</summary>
    public bool HasLeft { get; private set; }

    /// <summary>Core thread: what was below the endpoint when its node ended.</summary>
    public long GivenUp => Leaving?.GivenUp ?? 0;

    public bool IsStopped => Leaving is { HasBegun: true };

    /// <summary>Whether a reader or a handler has ever been attached. Otherwise nothing misses the messages.</summary>
    public abstract bool IsHeard { get; }

    /// <summary>
    /// The only consumer of the endpoint, if it is a handler without a backlog, there was never a reader, and no other endpoint of this
    /// node receives the topic's messages; otherwise null.
    /// </summary>
    public abstract IDirectSink? Direct { get; }

    /// <summary>From any thread: the messages that wait for a reader or a consumer.</summary>
    public abstract long Waiting { get; }

    protected SubscriptionExtras Extras => LazyInitializer.EnsureInitialized(ref _extras);

    // The extras of those that have any.
    protected SubscriptionExtras? KnownExtras => Volatile.Read(ref _extras);

    // Whether the endpoint takes nothing more although the topic may not have left it out yet.
    protected bool IsEndedByCaller => Endpoint.IsCancelled || (Endpoint.IsOver && Endpoint.State != EndpointState.Failed);

    // With the node's end, the others hand on what they have, and then end with an error.
    protected bool DropsUnread => Endpoint.IsCancelled || Endpoint.State == EndpointState.Disposed;

    // Whether what the reader has not read was reported without it.
    protected bool IsUnreadReported => Leaving is { IsUnreadReported: true };

    // Whether nothing is buffered, because there are handlers and no reader.
    protected abstract bool IsBufferOff { get; }

    // Under the lock: whether a reader or consumer is attached.
    protected abstract bool HasReader { get; }

    // Under the lock: whether no reader or consumer has anything left to read or to handle.
    protected abstract bool IsRead { get; }

    private LeavingState? Leaving => Volatile.Read(ref _extras)?.KnownLeaving;

    private LeavingState LeavingOrNew => Extras.LeavingOrNew(Topic.Node.Completions);

    /// <summary>Core thread: whether every consumer of this endpoint has room for a message of this size.</summary>
    public abstract bool CanAccept(int payloadBytes);

    /// <summary>Core thread: passes a message to this endpoint's consumers.</summary>
    /// <exception cref="OutOfMemoryException">There is no memory for it. No consumer has had it.</exception>
    public abstract void Accept(in DeliveredMessage message);

    /// <summary>Core thread: reports a gap to this endpoint's consumers. Throws no exception.</summary>
    public abstract void AcceptGap(in GapNotice gap);

    /// <summary>Core thread: sets whether no other endpoint of this node receives the topic's messages.</summary>
    public abstract void SetAlone(bool isAlone);

    /// <summary>
    /// Core thread: the endpoint leaves the topic, and nothing more is sent to it. It takes all that has come without a limit of its own.
    /// </summary>
    public abstract void LiftBuffer();

    /// <summary>From any thread: a handler of this endpoint that runs now; null if there is none.</summary>
    public abstract RunningHandler? FindRunning();

    /// <summary>
    /// From any thread: called when a handler of this endpoint has blocked the core thread for so long. Ends the endpoint as soon as the
    /// core thread continues.
    /// </summary>
    public abstract void OnHandlerTooSlow(string method, TimeSpan limit);

    /// <summary>
    /// From any thread: no more messages come to the buffer. Its reader gets those that are in it, or gaps in their place.
    /// </summary>
    public abstract void EndBuffer(Exception? error, bool discard);

    /// <summary>From any thread: the handlers and observers, which get nothing more.</summary>
    public abstract DetachedHandlers TakeHandlers();

    /// <summary>
    /// From any thread, when the core thread has ended: what no reader has read by now is dropped, and reported.
    /// </summary>
    public abstract void EndReading();

    /// <summary>From any thread, after EndReading: reports what a reader that does not continue has not read.</summary>
    public abstract void ReportUnread();

    /// <summary>From any thread: leaves the topic. Completes when the buffer has everything that this endpoint gets.</summary>
    public Task LeaveAsync() => LeaveWithinAsync(LeaveLimit);

    /// <summary>From any thread: leaves the topic without waiting for what has not come yet.</summary>
    public async Task LeaveNowAsync()
    {
        var left = BeginLeave();
        Topic.Node.Run(() => Topic.EndLeave(Endpoint));
        await Endpoint.Within(left, LeaveNowLimit).ConfigureAwait(Topic.Node.ResumesInContext);
    }

    public async Task LeaveWithinAsync(TimeSpan limit)
    {
        if (!await Endpoint.Within(BeginLeave(), limit).ConfigureAwait(Topic.Node.ResumesInContext))
        {
            await LeaveNowAsync().ConfigureAwait(Topic.Node.ResumesInContext);
        }
    }

    /// <summary>
    /// Core thread: the topic has left this endpoint out, and it gets no more messages. <paramref name="untaken"/>: those that had come for
    /// it and that it will not get.
    /// </summary>
    public void OnLeft(IReadOnlyList<GapNotice> untaken)
    {
        HasLeft = true;
        if (IsEndedByCaller)
        {
            ReportTooLate(untaken);
            return;
        }

        if (Endpoint.IsOver)
        {
            return;
        }

        long rest = GiveUp(untaken);
        EndBuffer(error: null, discard: false);
        TakeHandlers().End(SubscriptionEnd.Of(null, isCancelled: false) with { Unhandled = rest });
    }

    /// <summary>
    /// Core thread: the node ends or was removed, or the endpoint fails by itself, and will not get these, which had come for it.
    /// </summary>
    public void OnHandedOver(IReadOnlyList<GapNotice> untaken)
    {
        if (!Endpoint.IsOver && untaken.Count > 0)
        {
            LeavingOrNew.GivenUp = GiveUp(untaken);
        }
    }

    /// <summary>
    /// Core thread, after a cancellation: what waits below this endpoint is reported to its handlers, and counted. Its buffer takes nothing
    /// any more.
    /// </summary>
    public long ReportUntaken(DetachedHandlers handlers)
    {
        long untaken = 0;
        foreach (var gap in Topic.UntakenOf(Endpoint))
        {
            handlers.Notify(gap);
            untaken += gap.Count;
        }

        return untaken;
    }

    /// <summary>From any thread: completes when a reader or consumer has read what it may still read; at once if there is none.</summary>
    public Task WhenRead()
    {
        lock (Topic)
        {
            // What was dropped does not wait any more, but its reader still has to report it.
            return Leaving?.Read is null && IsRead
                ? Task.CompletedTask
                : (LeavingOrNew.Read ??= new TaskCompletionSource(Topic.Node.Completions)).Task;
        }
    }

    /// <summary>
    /// Core thread, at the end of the endpoint. True: it has a reader, for which the node waits, and drops what it does not read in time.
    /// The node then forgets the endpoint when it was read.
    /// </summary>
    public bool IsKeptUntilRead()
    {
        lock (Topic)
        {
            if (HasReader)
            {
                LeavingOrNew.IsRemovedWhenRead = true;
                return true;
            }
        }

        return false;
    }

    protected void OnReaderEnded()
    {
        if (Leaving is not { } leaving)
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
            Topic.Node.EndpointRegistry.Remove(Endpoint);
        }
    }

    // Under the lock.
    protected void NoteUnreadReported() => LeavingOrNew.IsUnreadReported = true;

    // Core thread: a message that came when the endpoint took nothing more, until the topic has left it out.
    protected void NoteTooLate(NodeId sender, long sequence) =>
        (LeavingOrNew.TooLate ??= new UnhandledMessages()).Add(sender, sequence);

    // Core thread: what waits below this endpoint will not come. A reader reports it when it gets there.
    private long GiveUp(IReadOnlyList<GapNotice> untaken)
    {
        var rest = new UnhandledMessages();
        foreach (var gap in untaken)
        {
            AcceptGap(gap);
            rest.Add(gap);
        }

        if (IsHeard)
        {
            Interlocked.Add(ref Topic.Node.CounterCells.UnhandledUntaken, rest.Count);
        }

        if (IsBufferOff)
        {
            rest.Report(Topic.Node, Name);
        }

        return rest.Count;
    }

    // What came between the end of this endpoint and the moment at which the topic was left.
    private void ReportTooLate(IReadOnlyList<GapNotice> untaken)
    {
        var leaving = LeavingOrNew;
        if (IsHeard)
        {
            var unhandled = new UnhandledMessages();
            unhandled.AddAll(untaken);
            Interlocked.Add(ref Topic.Node.CounterCells.UnhandledUntaken, unhandled.Count);
            unhandled.AddAll(leaving.TooLate?.Ranges() ?? []);
            unhandled.Report(Topic.Node, Name);
        }

        leaving.TooLate = null;
    }

    private Task<bool> BeginLeave()
    {
        var leaving = LeavingOrNew;
        if (leaving.TryBegin())
        {
            Topic.Node.Run(() => Topic.BeginLeave(Endpoint, leaving.OnLeft));
        }

        return leaving.Left;
    }
}
