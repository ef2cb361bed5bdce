using QuickSilver.Core.Alarms;
using QuickSilver.Core.Environment;

namespace QuickSilver.Publishing;

// The core thread's side of the lane: hands what publishers committed to their topics' senders, in order. Core thread only,
// but for Signal and StandsFor.
//
// The lane is one line for all topics, so a topic without room would hold up the others. What then stands first is left there
// for a moment: as a rule a window is closed that opens again at once. When it lasts, the intake looks at the others: as soon
// as one of them could go, what stands before it spills into its own topic's queue, and that topic's publishers go past the
// lane until the queue is empty again.
//
// Order within a topic, between the lane and what goes past it: a request carries the lane's tail at the moment it was
// pushed. It goes after all places before that mark, and before all behind it.
internal sealed class PublishIntake
{
    // Messages handed down in one go: the core thread must come back to tokens and receives.
    private const int TurnMessages = 1024;

    // With many topics those of the next messages are looked at together before the first of them is sent: one by one each would
    // wait for memory. Below the first number they stay in the cache; the second is what a processor can wait for at once.
    private const int ManyTopics = 512;
    private const int LookAheadMessages = 16;

    // How long the others wait for the first one's room before they are looked at, which costs as much as what waits is long.
    private static readonly TimeSpan Patience = TimeSpan.FromMilliseconds(1);

    private readonly INodeEnvironment _environment;
    private readonly PublishRequestPool _requests;
    private Alarm? _patience;
    private readonly SignalRequest _drain;
    private readonly LaneSources _sources = new();
    private readonly List<TopicPublisher> _awaiting = [];
    private readonly LaneWaiters _waiters = new();
    private PublishGate? _standsFor;
    // Gates with something in their inbox, and endpoints that were ended and have not left: while there are none, no message
    // needs to look at its topic's gate or at its endpoint.
    private int _inboxes;
    private int _endings;
    private long _scanned;
    private bool _isDraining;
    // Kept, so that the reading is not optimized away.
    private int _touched;
    // The lane has stood for longer than the patience lasts.
    private bool _isStuck;

    public PublishIntake(INodeEnvironment environment, PublishLane lane, PublishRequestPool requests)
    {
        Lane = lane;
        _environment = environment;
        _requests = requests;
        _drain = new ActionSignal(environment, Drain);
    }

    public PublishLane Lane { get; }

    /// <summary>Called when a place in the lane is not written yet that others wait behind.</summary>
    public Action? HeldUp { get; set; }

    /// <summary>From any thread, after a commit: the core thread will look, once for many.</summary>
    public void Signal() => _drain.Signal();

    /// <summary>From any thread: publishers of the gate wait until the lane has room.</summary>
    public void AwaitRoom(PublishGate gate) => _waiters.Add(gate);

    /// <summary>From any thread: whether the lane is stuck by this topic or by none: its publishers gain nothing past it.</summary>
    public bool StandsFor(PublishGate gate) => Volatile.Read(ref _standsFor) is not { } stuck || ReferenceEquals(stuck, gate);

    /// <summary>An endpoint that publishes: the number by which its messages name it.</summary>
    public int Enter(PublishOrigin origin, TopicPublisher publisher)
    {
        Lane.Reserve();
        return _sources.Add(origin, publisher);
    }

    /// <summary>A request that holds a message of this origin.</summary>
    public PublishRequest Rent(PublishOrigin origin, ReadOnlySpan<byte> payload) => _requests.Rent(origin, payload);

    /// <summary>An endpoint has ended, or was never opened; what is still in the lane of it is dropped.</summary>
    public void Leave(int number)
    {
        if (_sources.Remove(number))
        {
            Resume();
        }
    }

    /// <summary>From any thread: an endpoint's DropReason was set, and End follows on the core thread.</summary>
    public void BeginEnd() => Interlocked.Increment(ref _endings);

    public void End(int number)
    {
        Leave(number);
        Interlocked.Decrement(ref _endings);
    }

    /// <summary>From any thread, before the first request is pushed into an empty inbox: what the lane has of the topic looks there.
    /// </summary>
    public void BeginInbox() => Interlocked.Increment(ref _inboxes);

    /// <summary>Core thread: some topic's inbox may hold something.</summary>
    public bool HasInboxes => Volatile.Read(ref _inboxes) != 0;

    /// <summary>From any thread: it was taken, or another was first.</summary>
    public void EndInbox() => Interlocked.Decrement(ref _inboxes);

    /// <summary>A topic has room that had none, or has ended: what stands is looked at anew.</summary>
    public void Resume()
    {
        _scanned = 0;
        _drain.Signal();
    }

    /// <summary>The publisher has a request whose turn comes when the lane has passed its mark.</summary>
    public void Await(TopicPublisher publisher)
    {
        if (!publisher.IsAwaitingLane)
        {
            publisher.IsAwaitingLane = true;
            _awaiting.Add(publisher);
        }
    }

    public void Drain()
    {
        if (_isDraining)
        {
            return;
        }

        _isDraining = true;
        int left = TurnMessages;
        int ahead = _sources.Count >= ManyTopics ? 0 : int.MaxValue;
        bool isStanding = false;
        try
        {
            while (left > 0 && Lane.TryPeek(out var message))
            {
                if (ahead-- == 0)
                {
                    ahead = LookAhead(message.Position) - 1;
                }

                var source = _sources.Find(message.Source);
                if (!TryHandDown(source, message))
                {
                    isStanding = !source.Publisher.IsQueued && !(_isStuck && CanOthersGo(source.Publisher, message));
                    if (isStanding)
                    {
                        break;
                    }

                    Spill(source, message);
                }
                else
                {
                    _isStuck = false;
                }

                left--;
                Lane.Take(message);
            }

            Stand(isStanding);
            ServeAwaiting();
        }
        finally
        {
            _isDraining = false;
        }

        _waiters.Serve(Lane);
        if (left <= 0)
        {
            _drain.Signal();
        }
        else if (!isStanding && Lane.IsHeldUp)
        {
            HeldUp?.Invoke();
        }
    }

    private int LookAhead(long position)
    {
        int looked = 0;
        int touched = 0;
        while (looked < LookAheadMessages && Lane.TryRead(position, out var message))
        {
            touched += _sources.Find(message.Source).Publisher?.Touch() ?? 0;
            position += message.Bytes;
            looked++;
        }

        _touched = touched;
        return Math.Max(looked, 1);
    }

    private void OnStuck()
    {
        _isStuck = true;
        Drain();
    }

    // Whoever came to wait for the lane before it was said by whom it is stuck, saw a lane that moves.
    private void Stand(bool isStanding)
    {
        if (isStanding && !_isStuck && _patience is not { IsPending: true })
        {
            _environment.Schedule(_patience ??= new Alarm(OnStuck), Patience);
        }

        if (!isStanding || !_isStuck || !Lane.TryPeek(out var first))
        {
            Volatile.Write(ref _standsFor, null);
            Lane.Release();
            return;
        }

        var gate = _sources.Find(first.Source).Publisher.Gate;
        Volatile.Write(ref _standsFor, gate);
        Lane.Release();
        if (_waiters.IsAnyReady(gate))
        {
            _drain.Signal();
        }
    }

    private bool TryHandDown(in LaneSource source, in LaneMessage message) =>
        IsOver(source) || source.Publisher.TrySendFromLane(message);

    private bool IsOver(in LaneSource source) =>
        source.IsAbsent || (Volatile.Read(ref _endings) != 0 && source.Origin.DropReason is not null);

    // The topic in front has no room. Others go if they have messages in the lane behind it, or past it, or wait for the lane.
    private bool CanOthersGo(TopicPublisher stuck, in LaneMessage first)
    {
        foreach (var publisher in _awaiting)
        {
            if (publisher.AwaitRoom())
            {
                return true;
            }
        }

        if (_waiters.IsAnyReady(stuck.Gate))
        {
            return true;
        }

        long position = Math.Max(_scanned, first.Position + first.Bytes);
        var known = stuck;
        while (Lane.TryRead(position, out var message))
        {
            if (!PublishLane.IsEmptyPlace(message))
            {
                var source = _sources.Find(message.Source);
                if (IsOver(source) || (!ReferenceEquals(source.Publisher, known) && source.Publisher.AwaitRoom()))
                {
                    return true;
                }

                known = source.Publisher;
            }

            position += message.Bytes;
        }

        _scanned = position;
        return false;
    }

    private void Spill(in LaneSource source, in LaneMessage message)
    {
        var request = Rent(source.Origin, message.Payload);
        request.Mark = message.Position;
        source.Publisher.TakeOver(request);
    }

    private void ServeAwaiting()
    {
        for (int i = _awaiting.Count - 1; i >= 0; i--)
        {
            var publisher = _awaiting[i];
            if (publisher.IsDue)
            {
                _awaiting.RemoveAt(i);
                publisher.IsAwaitingLane = false;
                publisher.Pump();
            }
        }
    }
}
