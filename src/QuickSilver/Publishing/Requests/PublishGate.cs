using QuickSilver.Core.Environment;
using QuickSilver.Publishing.Lane;

namespace QuickSilver.Publishing.Requests;

// The path of the messages of one topic that bypass the lane (PublishLane), from publishers on any thread to the core thread: an inbox, the
// limit of the bytes that wait, and the line of publishers that found no room in the lane or here.
//
// The inbox is a stack. Producers push with one compare-and-swap; the core thread takes the whole stack with one exchange and reverses it.
// Only a producer that pushes into an empty inbox wakes the core thread: a thousand publish calls cost one wake.
//
// Room: a message may enter if topic and node have room, or if the topic has nothing queued at all. The second rule keeps every topic going
// when others fill the node's budget, admits a message that is larger than the budget, and means that a topic's line moves when that
// topic's own messages depart, so no other topic needs to wake it. The line is served when half of the topic's room is free, and from
// time to time with any free room (WakeTimes).
//
// What comes here from the lane because another topic needs it widens the topic's room, by at most what the lane has held, until nothing
// is queued. Otherwise the publishers of a topic that is held to the rate of a slow reader would stand still until as much has departed.
//
// A message that fits the lane and has waited in the line goes into the lane, not into the inbox. Otherwise all messages of the topic after
// it would have to bypass the lane too, for as long as its publishers are faster than the network.
//
// No wake is lost: a publisher joins the line, and then (after a fence) reads the bytes in use; the core thread subtracts the bytes that it
// has sent, and then (after a fence) checks for a line. A reservation that fails increases the count for a moment, but the publisher that
// failed then joins the line and checks itself.
internal sealed class PublishGate : SignalRequest
{
    private readonly PublishIntake _intake;
    private readonly PublishBudget _budget;
    // Null until the first publisher joins the line.
    private Lock? _lineLock;
    private PublishRequest? _inbox;
    private long _used;
    // The charges of messages that came here from the lane since the queue was last empty. Written by the core thread.
    private long _takenOver;
    private bool _hasLine;
    private bool _isQueued;
    private PublishRequest? _lineHead;
    private PublishRequest? _lineTail;
    // Not readonly: it is a struct that has state of its own. Core thread.
    private WakeTimes _wakes;

    /// <param name="environment">The environment of the node.</param>
    /// <param name="budget">The budget of the node.</param>
    /// <param name="intake">The intake of the node.</param>
    /// <param name="publisher">The publisher that owns the gate.</param>
    public PublishGate(INodeEnvironment environment, PublishBudget budget, PublishIntake intake, TopicPublisher publisher)
        : base(environment)
    {
        _budget = budget;
        _intake = intake;
        Publisher = publisher;
    }

    public TopicPublisher Publisher { get; }

    private Lock LineLock => LazyInitializer.EnsureInitialized(ref _lineLock);

    /// <summary>Whether the gate is in the list of LaneWaiters, whose lock guards this flag.</summary>
    public bool IsInLaneWaiters { get; set; }

    /// <summary>From any thread: whether messages must bypass the lane because earlier ones of the topic wait here.</summary>
    public bool IsPastLane => Volatile.Read(ref _isQueued) || Volatile.Read(ref _hasLine);

    /// <summary>Core thread: whether the inbox is not empty.</summary>
    public bool HasInbox => Volatile.Read(ref _inbox) is not null;

    public long UsedBytes => Volatile.Read(ref _used);

    public bool HasLine => Volatile.Read(ref _hasLine);

    private bool HasMuchRoom
    {
        get
        {
            long used = Volatile.Read(ref _used);
            return used == 0 || (used <= _budget.TopicLimit / 2 && _budget.Used <= _budget.Limit / 4 * 3);
        }
    }

    /// <summary>From any thread: passes the request to the core thread if there is room. Does not allocate or take a lock.</summary>
    public bool TryEnter(PublishRequest request)
    {
        if (Volatile.Read(ref _hasLine) || IsForLane(request) || !TryReserve(request.Charge))
        {
            return false;
        }

        Push(request);
        return true;
    }

    /// <summary>From any thread, after TryEnter returned false: adds the request to the line. True if there was room after all.</summary>
    public bool EnterOrQueue(PublishRequest request)
    {
        lock (LineLock)
        {
            if (_lineHead is null && !IsForLane(request) && TryReserve(request.Charge))
            {
                Push(request);
                return true;
            }

            request.Next = null;
            request.Previous = _lineTail;
            if (_lineTail is null)
            {
                _lineHead = request;
            }
            else
            {
                _lineTail.Next = request;
            }

            _lineTail = request;
            Note(ref _hasLine, true);
            Interlocked.MemoryBarrier();
            ServeLine();
            return false;
        }
    }

    /// <summary>Core thread: called when there may be room for waiting publishers.</summary>
    /// <param name="isDue">Whether any room will do, as <see cref="WakeTimes"/> says.</param>
    public void Serve(bool isDue)
    {
        lock (LineLock)
        {
            ServeLine(isDue);
        }
    }

    /// <summary>Core thread: sets whether messages of the topic wait that are older than any that is published from now on.</summary>
    public void SetQueued(bool isQueued)
    {
        // Written only if it changes, because publishers read the cache line.
        if (!isQueued && _takenOver != 0)
        {
            Volatile.Write(ref _takenOver, 0);
        }

        Note(ref _isQueued, isQueued);
    }

    /// <summary>Core thread: charges a message that came here from the lane, and widens the topic's room by as much.</summary>
    public void Charge(long charge)
    {
        Volatile.Write(ref _takenOver, _takenOver + charge);
        Interlocked.Add(ref _used, charge);
        _budget.Add(charge);
    }

    /// <summary>Core thread: takes all requests of the inbox, oldest first, linked by Next.</summary>
    public PublishRequest? TakeInbox()
    {
        var newest = Interlocked.Exchange(ref _inbox, null);
        if (newest is not null)
        {
            _intake.EndInbox();
        }

        PublishRequest? oldest = null;
        while (newest is not null)
        {
            var next = newest.Next;
            newest.Next = oldest;
            oldest = newest;
            newest = next;
        }

        return oldest;
    }

    /// <summary>Core thread: returns the charge of requests that have left the queue.</summary>
    public void Release(long charge)
    {
        _budget.Add(-charge);
        Interlocked.Add(ref _used, -charge);
        if (Volatile.Read(ref _hasLine))
        {
            Serve(_wakes.IsDue(Environment.Now, HasMuchRoom));
        }
    }

    /// <summary>Called on cancellation: removes a waiting request from the line if it is still there.</summary>
    public void Withdraw(PublishWait wait, CancellationToken token)
    {
        if (TryWithdraw(wait))
        {
            wait.Fail(new OperationCanceledException(token));
        }
    }

    /// <summary>
    /// From any thread: removes a waiting request from the line; false if it has left the line. The caller must end the wait.
    /// </summary>
    public bool TryWithdraw(PublishWait wait)
    {
        PublishRequest? request;
        lock (LineLock)
        {
            request = wait.Request;
            if (request is null)
            {
                return false;
            }

            wait.Request = null;
            Unlink(request);
            // A request behind a large one may fit now.
            ServeLine();
        }

        request.Recycle();
        return true;
    }

    /// <summary>Ends the waits of one endpoint's publishers, or of all if <paramref name="origin"/> is null.</summary>
    public void FailLine(PublishOrigin? origin, Exception reason)
    {
        lock (LineLock)
        {
            for (var request = _lineHead; request is not null;)
            {
                var next = request.Next;
                if (request.Marker is null && (origin is null || ReferenceEquals(request.Origin, origin)))
                {
                    FailWaiting(request, reason);
                }

                request = next;
            }

            ServeLine();
        }
    }

    // Whether the message fits into the lane and the lane, which is full now, will have room. Outside the lane the message would only be
    // sent later and cost more.
    private bool IsForLane(PublishRequest request) =>
        request.FitsLane && !Volatile.Read(ref _isQueued) && !_intake.Lane.HasMuchRoom && _intake.StandsFor(this);

    private bool TryReserve(long charge)
    {
        long topic = Interlocked.Add(ref _used, charge);
        long node = _budget.Add(charge);
        if (topic == charge || (topic <= _budget.TopicLimit + Volatile.Read(ref _takenOver) && node <= _budget.Limit))
        {
            return true;
        }

        _budget.Add(-charge);
        Interlocked.Add(ref _used, -charge);
        return false;
    }

    private void Push(PublishRequest request)
    {
        request.BeginWait();
        request.Mark = _intake.Lane.Tail;
        var seen = Volatile.Read(ref _inbox);
        bool isNoted = false;
        while (true)
        {
            if (seen is null && !isNoted)
            {
                _intake.BeginInbox();
                isNoted = true;
            }

            request.Next = seen;
            var found = Interlocked.CompareExchange(ref _inbox, request, seen);
            if (ReferenceEquals(found, seen))
            {
                break;
            }

            seen = found;
        }

        if (seen is null)
        {
            Signal();
        }
        else if (isNoted)
        {
            _intake.EndInbox();
        }
    }

    protected override void OnSignal() => Publisher.OnInbox();

    private void ServeLine(bool isDue = false)
    {
        bool mayServe = isDue || HasMuchRoom;
        while (mayServe && _lineHead is { } request)
        {
            // The endpoint has ended, and another thread is about to fail its line. The room of its queued messages may be free before.
            if (request.Marker is null && request.Origin?.DropReason is { } reason)
            {
                FailWaiting(request, reason);
                continue;
            }

            bool isInLane = isDue && _intake.StandsFor(this) && TryUseLane(request, needsMuchRoom: false);
            if (!isInLane && IsForLane(request))
            {
                _intake.AwaitRoom(this);
                if (IsForLane(request))
                {
                    break;
                }
            }

            isInLane = isInLane || TryUseLane(request, needsMuchRoom: true);
            if (!isInLane && !TryReserve(request.Charge))
            {
                break;
            }

            Unlink(request);
            var wait = request.Wait;
            request.Wait = null;
            // After this the core thread or the pool owns the request, and the publisher owns the wait.
            if (isInLane)
            {
                request.Recycle();
            }
            else
            {
                Push(request);
            }

            if (wait is not null)
            {
                wait.Request = null;
                wait.Complete();
            }
        }

        Note(ref _hasLine, _lineHead is not null);
    }

    private void FailWaiting(PublishRequest request, Exception reason)
    {
        Unlink(request);
        if (request.Wait is { } wait)
        {
            wait.Request = null;
            wait.Fail(reason);
        }

        request.Recycle();
    }

    private bool TryUseLane(PublishRequest request, bool needsMuchRoom) =>
        request.FitsLane && !Volatile.Read(ref _isQueued) && _intake.TryWrite(request, needsMuchRoom);

    // The lane counts a reason for longer than it holds, so a publisher that sees a count of 0 need not check this gate.
    private void Note(ref bool reason, bool holds)
    {
        if (reason == holds)
        {
            return;
        }

        if (holds)
        {
            _intake.Lane.BeginPast();
        }

        Volatile.Write(ref reason, holds);
        if (!holds)
        {
            _intake.Lane.EndPast();
        }
    }

    private void Unlink(PublishRequest request)
    {
        if (request.Previous is { } previous)
        {
            previous.Next = request.Next;
        }
        else
        {
            _lineHead = request.Next;
        }

        if (request.Next is { } next)
        {
            next.Previous = request.Previous;
        }
        else
        {
            _lineTail = request.Previous;
        }

        request.Next = null;
        request.Previous = null;
    }
}
