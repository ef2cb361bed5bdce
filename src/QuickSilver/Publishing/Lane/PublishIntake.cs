using QuickSilver.Core.Alarms;
using QuickSilver.Core.Environment;
using QuickSilver.Core.Flow;
using QuickSilver.Publishing.Requests;

namespace QuickSilver.Publishing.Lane;

// The core thread's side of the lane: passes committed messages to the senders of their topics, in order. Core thread only, except for
// Signal and StandsFor.
//
// The lane is one queue for all topics, so a topic without room would stop the others. Its message is left at the head of the lane for a
// moment, because usually a window is closed that opens again at once. If that lasts, the intake checks the other topics. As soon as one of
// them could send, the messages before that topic's message are moved ("spilled") to the queues of their own topics. The publishers of the
// spilled topics bypass the lane until those queues are empty again.
//
// Order within a topic, between the lane and messages that bypass it: a request contains the lane's tail at the moment when it was pushed.
// It is sent after all places before that mark, and before all those after it.
internal sealed class PublishIntake
{
    // With many topics, the objects that the next messages need are read together before the first message is sent, because one after the
    // other each message would wait for memory. With fewer topics than the first number they stay in the cache. The second number is about
    // what a processor can wait for at once.
    private const int ManyTopics = 512;
    private const int LookAheadMessages = 16;

    // How long the other topics wait for the first one's room before they are checked. The check costs time in proportion to the messages
    // that wait.
    private static readonly TimeSpan Patience = TimeSpan.FromMilliseconds(1);
    // A refusal of memory comes after a collection, which must not be made again at once.
    private static readonly TimeSpan PauseWhenShort = TimeSpan.FromMilliseconds(100);

    private readonly INodeEnvironment _environment;
    private readonly PublishRequestPool _requests;
    private Alarm? _patience;
    private readonly SignalRequest _drain;
    private readonly LaneSources _sources = new();
    private readonly List<TopicPublisher> _awaiting = [];
    private readonly LaneWaiters _waiters = new();
    // Those whose turn was cut short by an exception. Null until there is one.
    private List<TopicPublisher>? _interrupted;
    // The number of gates with requests in their inbox, and of endpoints that were ended and have not left. While they are 0, no message
    // needs to check its topic's gate or its endpoint.
    private int _inboxes;
    private int _endings;
    private long _scanned;
    // Stored, so that the compiler does not remove the reads.
    private int _touched;
    // Not readonly: it is a struct that has state of its own.
    private DrainPhase _phase;

    public PublishIntake(INodeEnvironment environment, PublishLane lane, PublishRequestPool requests)
    {
        Lane = lane;
        _environment = environment;
        _requests = requests;
        _drain = new ActionSignal(environment, Drain);
    }

    public PublishLane Lane { get; }

    /// <summary>Called when a place at the head of the lane is not written yet.</summary>
    public Action? HeldUp { get; set; }

    /// <summary>From any thread, after a commit: the core thread will drain the lane, once for many signals.</summary>
    public void Signal() => _drain.Signal();

    /// <summary>From any thread: called when publishers of the gate wait until the lane has room.</summary>
    public void AwaitRoom(PublishGate gate) => _waiters.Add(gate);

    /// <summary>From any thread: whether this topic or none stops the lane, so that its publishers gain nothing by bypassing it.</summary>
    public bool StandsFor(PublishGate gate) => _phase.StandsFor(gate);

    /// <summary>Registers an endpoint that publishes, and gives it the number that its messages carry.</summary>
    public void Enter(PublishOrigin origin, TopicPublisher publisher)
    {
        Lane.Reserve();
        origin.Source = _sources.Add(origin, publisher);
    }

    /// <summary>
    /// From any thread: writes the message of a publisher that has waited into the lane, so that those after it use the lane too. False:
    /// the lane does not have the room.
    /// </summary>
    /// <param name="request">The message.</param>
    /// <param name="needsMuchRoom">Whether the lane must have much room, and not only room for this message.</param>
    public bool TryWrite(PublishRequest request, bool needsMuchRoom)
    {
        var payload = request.Payload;
        var extensions = request.Extensions;
        if ((needsMuchRoom && !Lane.HasMuchRoom) || !Lane.TryClaim(extensions.Length + payload.Length, out var claim))
        {
            return false;
        }

        extensions.CopyTo(claim.Payload);
        payload.CopyTo(claim.Payload[extensions.Length..]);
        Lane.Commit(claim, request.Origin!.Source, payload.Length, extensions.Length);
        Signal();
        return true;
    }

    /// <summary>A request that contains a message of this origin, and takes over its buffer.</summary>
    public PublishRequest Adopt(PublishOrigin origin, byte[] buffer, int bytes) => _requests.Adopt(origin, buffer, bytes);

    /// <summary>
    /// Called when an endpoint has ended, or was never opened. Its messages that are still in the lane are dropped, and count as such.
    /// </summary>
    public void Leave(int number)
    {
        var origin = _sources.Find(number).Origin;
        if (_sources.Remove(number))
        {
            origin.CountDropped(Lane.Remove(number));
            Resume();
        }
    }

    /// <summary>From any thread: called when an endpoint's DropReason was set. TryEnd follows on the core thread.</summary>
    public void BeginEnd() => Interlocked.Increment(ref _endings);

    /// <summary>
    /// Drops the messages of an ended endpoint that are in the lane. False: another publisher is about to write between them, so that they
    /// cannot all be counted yet. Then call it again with the same <paramref name="end"/>: the lane's tail when the endpoint had ended.
    /// Other publishers always write somewhere behind it.
    /// </summary>
    public bool TryEnd(int number, long end, bool isLastTry)
    {
        if (!isLastTry && !Lane.IsCommitted(end))
        {
            return false;
        }

        Leave(number);
        Interlocked.Decrement(ref _endings);
        return true;
    }

    /// <summary>
    /// From any thread: called before the first request is pushed into an empty inbox, so that messages of the topic in the lane check the
    /// inbox.
    /// </summary>
    public void BeginInbox() => Interlocked.Increment(ref _inboxes);

    /// <summary>Core thread: whether some topic's inbox may contain requests.</summary>
    public bool HasInboxes => Volatile.Read(ref _inboxes) != 0;

    /// <summary>From any thread: called when the inbox was taken, or another publisher pushed first.</summary>
    public void EndInbox() => Interlocked.Decrement(ref _inboxes);

    /// <summary>Called when a topic that had no room has room or has ended: the lane is checked again.</summary>
    public void Resume()
    {
        _scanned = 0;
        _drain.Signal();
    }

    /// <summary>Called when the publisher has a request that is sent when the lane has passed its mark.</summary>
    public void Await(TopicPublisher publisher)
    {
        if (publisher.TryBeginAwaitLane())
        {
            _awaiting.Add(publisher);
        }
    }

    /// <summary>
    /// The publisher's turn was cut short: by an exception, or because the heap has no memory. It continues after a pause.
    /// </summary>
    public void PumpLater(TopicPublisher publisher)
    {
        _interrupted ??= [];
        if (!_interrupted.Contains(publisher))
        {
            _interrupted.Add(publisher);
        }

        GoOnLater();
    }

    /// <summary>Whether the publisher waits for the end of such a pause.</summary>
    public bool IsInterrupted(TopicPublisher publisher) => _interrupted?.Contains(publisher) ?? false;

    public void Drain()
    {
        var budget = PullBudget.OneTurn;
        Drain(ref budget);
        if (budget.IsSpent)
        {
            _drain.Signal();
        }
    }

    /// <summary>A topic may send again, and has the turn: the lane gives what it has for any topic, in order.</summary>
    public void Pull(ref PullBudget budget)
    {
        _scanned = 0;
        if (_phase.IsDraining)
        {
            _drain.Signal();
        }
        else if (Lane.TryPeek(out _))
        {
            Drain(ref budget);
        }
    }

    private void Drain(ref PullBudget budget)
    {
        if (_phase.IsDraining)
        {
            return;
        }

        _phase.BeginTurn();
        int ahead = _sources.Count >= ManyTopics ? 0 : int.MaxValue;
        bool isStanding = false;
        bool isWhole = false;
        try
        {
            while (!budget.IsSpent && Lane.TryPeek(out var message))
            {
                if (ahead-- == 0)
                {
                    ahead = LookAhead(message.Position) - 1;
                }

                var source = _sources.Find(message.Source);
                if (!TryHandDown(source, message))
                {
                    isStanding = (!source.Publisher.IsQueued && !(_phase.IsStuck && CanOthersGo(source.Publisher, message)))
                        || !TrySpill(source, message);
                    if (isStanding)
                    {
                        break;
                    }
                }
                else
                {
                    _phase.OnMoved();
                }

                budget.Charge(message.Bytes);
                Lane.Take(message);
            }

            Stand(isStanding);
            ServeAwaiting();
            isWhole = true;
        }
        finally
        {
            _phase.EndTurn();
            if (!isWhole)
            {
                GoOnLater();
            }
        }

        _waiters.Serve(Lane, _environment);
        if (!budget.IsSpent && !isStanding && Lane.IsHeldUp)
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

    private void OnWaited()
    {
        _phase.EndWait(Lane.Next);
        _interrupted?.ForEach(static publisher => publisher.Signal());
        _interrupted?.Clear();
        Drain();
    }

    // What threw may throw again, so what is left waits for a pause. Nothing else may come that would set it going.
    private void GoOnLater()
    {
        if (!_phase.IsWaiting)
        {
            Wait(PauseWhenShort);
        }
    }

    private void Wait(TimeSpan time)
    {
        _phase.BeginWait(Lane.Next);
        _environment.Schedule(_patience ??= new Alarm(OnWaited), time);
    }

    // A publisher that began to wait for the lane before the lane stood for a topic considered the lane moving. The waiters are therefore
    // checked after that.
    private void Stand(bool isStanding)
    {
        if (isStanding && _phase is { IsStuck: false, IsWaiting: false })
        {
            Wait(_phase.IsShort ? PauseWhenShort : Patience);
        }

        if (!isStanding || !_phase.IsStuck || !Lane.TryPeek(out var first))
        {
            _phase.Release();
            Lane.Release();
            return;
        }

        var gate = _sources.Find(first.Source).Publisher.Gate;
        _phase.Stand(gate);
        Lane.Release();
        if (_waiters.IsAnyReady(gate))
        {
            _drain.Signal();
        }
    }

    private bool TryHandDown(in LaneSource source, in LaneMessage message)
    {
        if (!IsOver(source))
        {
            return source.Publisher.TrySendFromLane(message);
        }

        source.Origin?.CountDropped(1);
        return true;
    }

    private bool IsOver(in LaneSource source) =>
        source.IsAbsent || (Volatile.Read(ref _endings) != 0 && source.Origin.DropReason is not null);

    // The topic at the head of the lane has no room. Other topics can send if they have messages behind it in the lane, have messages
    // outside the lane, or wait for the lane.
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

    // False: the heap has no memory. The message stays where it is, and the topics behind it wait a little longer.
    private bool TrySpill(in LaneSource source, in LaneMessage message)
    {
        if (_phase.IsShort)
        {
            return false;
        }

        PublishRequest request;
        try
        {
            _environment.Heap.Ask(HeapUse.QueuedMessage, message.Bytes);
            request = _requests.Rent(source.Origin, message.Payload, message.Extensions);
        }
        catch (OutOfMemoryException)
        {
            _phase.BeginShort();
            return false;
        }

        request.Mark = message.Position;
        Lane.Take(message);
        source.Publisher.TakeOver(request);
        return true;
    }

    private void ServeAwaiting()
    {
        for (int i = _awaiting.Count - 1; i >= 0; i--)
        {
            var publisher = _awaiting[i];
            if (publisher.IsDue)
            {
                _awaiting.RemoveAt(i);
                publisher.EndAwaitLane();
                publisher.Pump();
            }
        }
    }
}
