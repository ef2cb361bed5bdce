using QuickSilver.Core.Environment;

namespace QuickSilver.Publishing;

// What goes past the lane (PublishLane) from the publishers of one topic, on any thread, to the core thread: an inbox, the
// bound on what waits, and the line of those who found no room, in the lane or here.
//
// The inbox is a stack that producers push with one compare-and-swap and the core thread takes whole with one exchange and
// turns round. Who pushes on an empty inbox wakes the core thread, and only that one: a thousand publishes cost one wake.
//
// Room: a message may enter when topic and node have room, or when the topic has nothing queued at all. The second keeps
// every topic alive when others fill the node's budget, lets a message larger than the budget through, and means that a
// topic's line moves by that topic's own departures alone: nobody else need wake it. The line is served when half the
// topic's room is free, so that a publisher which waits once then runs for thousands of messages.
//
// No wake is lost: a publisher enters the line, then (after a fence) looks at what is used; the core thread takes off what
// it used, then (after a fence) looks for a line. A reservation that fails inflates the count for a moment, but whoever
// fails then enters the line and looks itself.
internal sealed class PublishGate : SignalRequest
{
    private readonly PublishIntake _intake;
    private readonly PublishBudget _budget;
    // Null before the first line.
    private Lock? _lineLock;
    private PublishRequest? _inbox;
    private long _used;
    private bool _hasLine;
    private bool _isQueued;
    private PublishRequest? _lineHead;
    private PublishRequest? _lineTail;

    /// <param name="environment">The node's.</param>
    /// <param name="budget">The node's.</param>
    /// <param name="intake">The node's.</param>
    /// <param name="publisher">Whose gate it is.</param>
    public PublishGate(INodeEnvironment environment, PublishBudget budget, PublishIntake intake, TopicPublisher publisher)
        : base(environment)
    {
        _budget = budget;
        _intake = intake;
        Publisher = publisher;
    }

    public TopicPublisher Publisher { get; }

    private Lock LineLock => LazyInitializer.EnsureInitialized(ref _lineLock);

    /// <summary>Guarded by the lane's waiters, whose note it is.</summary>
    public bool IsInLaneWaiters { get; set; }

    /// <summary>From any thread: messages take this way, not the lane, as others of the topic wait here.</summary>
    public bool IsPastLane => Volatile.Read(ref _isQueued) || Volatile.Read(ref _hasLine);

    /// <summary>Core thread: the inbox is not empty.</summary>
    public bool HasInbox => Volatile.Read(ref _inbox) is not null;

    public long UsedBytes => Volatile.Read(ref _used);

    public bool HasLine => Volatile.Read(ref _hasLine);

    /// <summary>From any thread: true when the request is on its way. Allocates nothing, takes no lock.</summary>
    public bool TryEnter(PublishRequest request)
    {
        if (Volatile.Read(ref _hasLine) || IsForLane(request) || !TryReserve(request.Charge))
        {
            return false;
        }

        Push(request);
        return true;
    }

    /// <summary>From any thread, after TryEnter said no: joins the line. True when there was room after all.</summary>
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

    /// <summary>Core thread: there may be room now for who waits.</summary>
    public void Serve()
    {
        lock (LineLock)
        {
            ServeLine();
        }
    }

    /// <summary>Core thread: whether older messages of the topic wait than any that is published from now on.</summary>
    public void SetQueued(bool isQueued) => Note(ref _isQueued, isQueued);

    /// <summary>Core thread: a message came here from the lane; the bound is for publishers, who learn of it by the next.</summary>
    public void Charge(long charge)
    {
        Interlocked.Add(ref _used, charge);
        _budget.Add(charge);
    }

    /// <summary>Core thread: all that came, oldest first, linked by Next.</summary>
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

    /// <summary>Core thread: so much has left the queue.</summary>
    public void Release(long charge)
    {
        _budget.Add(-charge);
        Interlocked.Add(ref _used, -charge);
        if (Volatile.Read(ref _hasLine))
        {
            lock (LineLock)
            {
                ServeLine();
            }
        }
    }

    /// <summary>A cancellation: takes a waiting request back, if the line still has it.</summary>
    public void Withdraw(PublishWait wait, CancellationToken token)
    {
        if (TryWithdraw(wait))
        {
            wait.Fail(new OperationCanceledException(token));
        }
    }

    /// <summary>From any thread: takes a waiting request back; false when it has left the line. The wait is the caller's to end.</summary>
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
            // Whoever stood behind a large message may fit now.
            ServeLine();
        }

        request.Recycle();
        return true;
    }

    /// <summary>Ends the waiting of one endpoint's publishers, or of all (null).</summary>
    public void FailLine(PublishOrigin? origin, Exception reason)
    {
        lock (LineLock)
        {
            for (var request = _lineHead; request is not null;)
            {
                var next = request.Next;
                if (request.Marker is null && (origin is null || ReferenceEquals(request.Origin, origin)))
                {
                    Unlink(request);
                    if (request.Wait is { } wait)
                    {
                        wait.Request = null;
                        wait.Fail(reason);
                    }

                    request.Recycle();
                }

                request = next;
            }

            ServeLine();
        }
    }

    // The lane is full, and will have room: past it a message would only come late, at a higher price.
    private bool IsForLane(PublishRequest request) =>
        request.FitsLane && !Volatile.Read(ref _isQueued) && !_intake.Lane.HasMuchRoom && _intake.StandsFor(this);

    private bool TryReserve(long charge)
    {
        long topic = Interlocked.Add(ref _used, charge);
        long node = _budget.Add(charge);
        if (topic == charge || (topic <= _budget.TopicLimit && node <= _budget.Limit))
        {
            return true;
        }

        _budget.Add(-charge);
        Interlocked.Add(ref _used, -charge);
        return false;
    }

    private void Push(PublishRequest request)
    {
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

    private void ServeLine()
    {
        long used = Volatile.Read(ref _used);
        bool mayServe = used == 0 || (used <= _budget.TopicLimit / 2 && _budget.Used <= _budget.Limit / 4 * 3);
        while (mayServe && _lineHead is { } request)
        {
            if (IsForLane(request))
            {
                _intake.AwaitRoom(this);
                if (IsForLane(request))
                {
                    break;
                }
            }

            if (!TryReserve(request.Charge))
            {
                break;
            }

            Unlink(request);
            var wait = request.Wait;
            request.Wait = null;
            // From here on the core thread owns the request, and the wait its publisher.
            Push(request);
            if (wait is not null)
            {
                wait.Request = null;
                wait.Complete();
            }
        }

        Note(ref _hasLine, _lineHead is not null);
    }

    // The lane counts a reason for longer than it holds: who finds none counted need not look here.
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
