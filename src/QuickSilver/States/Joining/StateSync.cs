using System.Buffers.Binary;
using QuickSilver.Core.Alarms;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Diagnostics;
using QuickSilver.Endpoints;
using QuickSilver.Endpoints.Changes;
using QuickSilver.Transfers;

namespace QuickSilver.States.Joining;

// How a node gets all of a state, when it joins or lost something, and gives it to others. Core thread only.
//
// The node is a subscriber first, so it gets all that is sent after that. It says hello in the topic. Each of the others answers with a
// mark, in the topic as well: by the order of a sender, a node with the mark has all that its sender sent before, and all that follows goes
// to the new node, since its sender knew of it. The new node asks one of those that are complete. That one waits for the marks of all
// others, so that it has all that the new node was not sent, and gives its content in pieces (StateLetters). What comes twice does no harm:
// entries are merged by their stamps.
//
// What can go wrong, and what ends it:
// - The one that gives leaves, gives nothing new, or is busy: the node says hello again. It asks another one, if others are complete too.
// - A piece is lost: the count at the end does not match, and the node says hello again.
// - One gives without end: after some time another one is asked. The time grows, since a state may be large and a path slow.
// - A codec of this node cannot decode a value, in a message or in a piece: the node takes the rest, and says hello again until no node has
//   that value any more or it can be decoded.
// - This node has no memory for what is given: it says hello again after a pause.
// - A change has a number that cannot have been counted: it is refused, whether it comes in the topic or in a piece, and the rest is taken.
// - A node failed, and what it sent is delivered late, after this node has given: it is forwarded under its own stamp while another node
//   may have joined meanwhile.
// - No node is complete, because all are new or all have lost something: of those that answer, the one with the lowest id takes what each
//   of the others has, and then has what any of them has. If it does not get there, the next one tries it too. One of them that gives
//   nothing again and again is left out.
// - A member answers no hello: it is waited for, and then what it sends is forwarded.
// - Nodes are there that never said hello: a part of the cluster that was cut off is back. As long as a node does not know all others, it
//   does not count as complete to those that join. Then all of them say hello, and the one with the lowest id takes from each.
internal sealed class StateSync<TKey, TValue>
    where TKey : notnull
{
    private static readonly TimeSpan Tick = TimeSpan.FromMilliseconds(10);
    // Without a sign of progress, the node begins again.
    private static readonly TimeSpan SilenceLimit = TimeSpan.FromSeconds(3);
    private static readonly TimeSpan ForwardFor = TimeSpan.FromMinutes(1);
    private enum Phase
    {
        // Waits until the view of this node names all subscribers.
        Viewing,
        // Said hello, and waits for marks.
        Greeting,
        // Waits before the next hello.
        Pausing,
        // Asked one node, and takes what it gives.
        Taking,
        Complete,
    }

    private readonly IStateWire<TKey, TValue> _wire;
    private readonly StateTable<TKey, TValue> _table;
    private readonly StateEntryBytes<TKey, TValue> _bytes;
    private readonly BulkGiver _giver;
    private readonly IEndpointNode _core;
    private readonly StateJoins _joins;
    private readonly StateStrangers _strangers;
    private readonly StateTake<TKey, TValue> _take;
    private readonly Alarm _alarm;
    private readonly StateAdmission<TKey, TValue> _admission;
    private readonly StateAsks _asks;
    private readonly StateChoice _choice = new();
    private SubscriberSet _members = SubscriberSet.Empty;
    private Phase _phase = Phase.Viewing;
    private long _number;
    // Whether it was complete once.
    private bool _isHolder;
    // Whether one of those that were asked since the hello failed.
    private bool _isPartial;
    private TimeSpan _askedAt;
    private TimeSpan _since;
    private TimeSpan? _lastHello;
    // Not readonly: it is a struct that has state of its own.
    private RetryPause _pause;
    private long _failedPieces;
    private long _shortages;
    private volatile bool _isComplete;
    private bool _isClosed;

    public StateSync(
        IStateWire<TKey, TValue> wire,
        StateTable<TKey, TValue> table,
        StateEntryBytes<TKey, TValue> bytes,
        BulkGiver giver,
        IEndpointNode core)
    {
        _wire = wire;
        _table = table;
        _bytes = bytes;
        _giver = giver;
        _core = core;
        _admission = new StateAdmission<TKey, TValue>(core, wire, table.Clock);
        _asks = new StateAsks(core, wire.Name);
        _joins = new StateJoins(wire.Self);
        _strangers = new StateStrangers(wire.Self);
        _take = new StateTake<TKey, TValue>(table, bytes) { Merge = TryMerge, FoundUndecodable = OnUndecodableEntry };
        _alarm = new Alarm(OnTick);
    }

    /// <summary>From any thread.</summary>
    public bool IsComplete => _isComplete;

    /// <summary>From any thread: what is missing while it is not complete, and whom it asked, in sentences.</summary>
    public string Missing => _asks.Text;

    /// <summary>To how many nodes this one gives what it has.</summary>
    public int Giving => _giver.Running;

    private TimeSpan Now => _core.Environment.Now;

    private NodeId Self => _wire.Self;

    public void Begin()
    {
        Enter(Phase.Viewing, "a view of all nodes that have the state");
        OnMembers();
        Schedule();
    }

    public void Close()
    {
        _isClosed = true;
        _core.Environment.Cancel(_alarm);
        _admission.Close();
        _asks.Close();
    }

    /// <summary>Called when the subscribers have changed.</summary>
    public void OnMembers()
    {
        if (_isClosed)
        {
            return;
        }

        _members = _wire.Members;
        _strangers.Keep(_members);
        _joins.Keep(_members);
        _choice.Keep(_members);
        if (_isHolder)
        {
            _strangers.NoteUnknown(_members, Now);
        }

        GiveWhoIsReady();
        Schedule();
    }

    /// <summary>Something was lost: what others have is asked for.</summary>
    public void OnLost()
    {
        _isComplete = false;
        _pause.EndUseless();
        if (_phase is not (Phase.Viewing or Phase.Pausing))
        {
            // Also while the node joins: the giver may give before it has what is lost here.
            Pause();
        }
    }

    /// <summary>A change could not be decoded here. What others have is asked for, until no node has what cannot be decoded.</summary>
    public void OnUndecodable(NodeId sender)
    {
        if (_isClosed)
        {
            return;
        }

        _isComplete = false;
        // Giving continues meanwhile, as such changes may come faster than that ends.
        _isPartial = true;
        if (_phase == Phase.Complete)
        {
            Pause();
        }

        _asks.OnUndecodable(sender);
    }

    public void OnMessage(NodeId sender, in StateMessage<TKey, TValue> message)
    {
        switch (message.Kind)
        {
            case StateMessageKind.Entry:
                OnEntry(sender, message.Entry!);
                break;
            case StateMessageKind.Hello:
                if (!message.IsHolder)
                {
                    // One that joins. Others may have met strangers, and be strangers themselves.
                    _strangers.Know(sender);
                }

                _lastHello = Now;
                _joins.OnHello(sender, message.Number, message.Box, _members, Now);
                _wire.Send(new StateMessage<TKey, TValue>
                {
                    Kind = StateMessageKind.Mark,
                    Node = sender,
                    Number = message.Number,
                    AgeSeconds = _table.Clock.AgeSeconds,
                    IsComplete = _isComplete && !_strangers.IsAnyUnknown,
                });
                break;
            case StateMessageKind.Mark when message.Node == Self:
                if (!_isHolder)
                {
                    _strangers.Know(sender);
                }

                if (_phase == Phase.Greeting && message.Number == _number)
                {
                    _choice.OnMark(sender, message.IsComplete, message.AgeSeconds);
                    Choose();
                }

                break;
            case StateMessageKind.Mark:
                _joins.OnMark(sender, message.Node, message.Number);
                break;
            case StateMessageKind.Ask when message.Node == Self:
                _joins.OnAsk(sender, message.Number, Now);
                break;
            default:
                return;
        }

        GiveWhoIsReady();
        Schedule();
    }

    public void OnLetter(NodeId sender, ReadOnlySpan<byte> letter)
    {
        if (letter.Length < StateLetters<TKey, TValue>.HeaderBytes || _phase != Phase.Taking || sender != _take.Source
            || BinaryPrimitives.ReadInt64LittleEndian(letter) != _number)
        {
            return;
        }

        var body = letter[StateLetters<TKey, TValue>.HeaderBytes..];
        switch ((StateLetterKind)letter[sizeof(long)])
        {
            case StateLetterKind.Piece:
                TakePiece(body);
                break;
            case StateLetterKind.End when body.Length >= sizeof(int) && BinaryPrimitives.ReadInt32LittleEndian(body) == _take.Taken:
                if (_take.Undecoded > 0)
                {
                    Fail(StateAskEnd.Undecodable);
                    break;
                }

                Interlocked.Increment(ref _core.CounterCells.SnapshotsTaken);
                OnAsked(StateAskEnd.Gave);
                TakeNext();
                break;
            case StateLetterKind.Busy:
                Fail(StateAskEnd.Busy);
                break;
            default:
                Fail(StateAskEnd.Incomplete);
                break;
        }
    }

    private void OnEntry(NodeId sender, StateEntry<TKey, TValue> entry)
    {
        if (TryMerge(sender, entry)
            && _lastHello is { } last && Now - last < ForwardFor && sender == entry.Stamp.Origin
            && (!_members.Contains(sender) || _joins.IsUnmarked(sender)))
        {
            // It comes late, from a node that has left or has not answered: a node that joined meanwhile may not get it.
            _wire.Send(new StateMessage<TKey, TValue> { Entry = entry });
        }
    }

    private bool TryMerge(NodeId sender, StateEntry<TKey, TValue> entry) => !_isClosed && _admission.TryMerge(sender, entry);

    private void GiveWhoIsReady()
    {
        foreach (var (node, box, number) in _joins.TakeReady(Now))
        {
            _giver.Give(node, new StateLetters<TKey, TValue>(_table, _bytes, _core, box, number));
        }
    }

    private void TakePiece(ReadOnlySpan<byte> body)
    {
        var end = _take.Piece(body, out bool isNew, out var fault);
        if (isNew)
        {
            _since = Now;
        }

        switch (end)
        {
            case null:
                break;
            case StateAskEnd.NoMemory:
                // The others would also give more than the memory holds.
                OnAsked(StateAskEnd.NoMemory);
                _pause.OnUseless(Now - _askedAt);
                Pause();
                if (RepeatedEvent.IsLogged(++_shortages))
                {
                    ApiLog.StateHasNoMemory(_core.Log, fault!, _wire.Name, _core.Named(_take.Source), _shortages);
                }

                break;
            case StateAskEnd.Unreadable:
                LogUnread(fault!);
                Fail(StateAskEnd.Unreadable);
                break;
            default:
                Fail(end.Value);
                break;
        }
    }

    private void OnUndecodableEntry(Exception exception, NodeId origin)
    {
        LogUnread(exception);
        _asks.OnUndecodable(origin);
    }

    private void LogUnread(Exception exception)
    {
        if (RepeatedEvent.IsLogged(++_failedPieces))
        {
            ApiLog.StatePieceFailed(_core.Log, exception, _wire.Name, _core.Named(_take.Source), _failedPieces);
        }
    }

    private void Hello()
    {
        // Above those of a state of this name that this node had open before, whose marks others may still know.
        _number = Math.Max(_number + 1, Now.Ticks);
        _choice.Begin();
        _isPartial = false;
        Enter(Phase.Greeting, "the answers of the nodes that have the state");
        _pause.OnAttempt();
        if (_members.Count <= 1)
        {
            _admission.KnowAge();
            Complete();
            return;
        }

        _wire.Send(new StateMessage<TKey, TValue>
        {
            Kind = StateMessageKind.Hello,
            Number = _number,
            Box = _wire.Box,
            IsHolder = _isHolder,
        });
    }

    // Called while marks come.
    private void Choose()
    {
        var (step, sources) = _choice.Decide(Self, _members, Now - _since, _pause.Attempts);
        if (step == StateChoiceStep.Take && _admission.TryTakeAge(_choice.AgeSeconds))
        {
            _take.Begin(sources);
            TakeNext();
        }
        else if (step != StateChoiceStep.Wait)
        {
            Pause();
        }
    }

    private void TakeNext()
    {
        if (_take.TryNext(_members))
        {
            _askedAt = Now;
            _asks.OnAsked(_take.Source);
            Enter(Phase.Taking, $"node {_core.Named(_take.Source)}");
            _wire.Send(new StateMessage<TKey, TValue> { Kind = StateMessageKind.Ask, Node = _take.Source, Number = _number });
        }
        else if (_isPartial)
        {
            Pause();
        }
        else
        {
            Complete();
        }
    }

    private void OnAsked(StateAskEnd end)
    {
        _choice.OnAsked(_take.Source, end);
        _asks.OnEnded(_take.Source, end);
    }

    // The others that are asked give what they have nevertheless.
    private void Fail(StateAskEnd end)
    {
        OnAsked(end);
        _isPartial = true;
        if (end == StateAskEnd.Undecodable)
        {
            _pause.OnUseless(Now - _askedAt);
        }

        TakeNext();
        Schedule();
    }

    private void Pause()
    {
        Enter(Phase.Pausing, _choice.First is { } first ? $"node {_core.Named(first)}" : null);
        Schedule();
    }

    private void Enter(Phase phase, string? waitsFor)
    {
        _phase = phase;
        _since = Now;
        _asks.OnWaits(waitsFor);
    }

    private void Complete()
    {
        _phase = Phase.Complete;
        _pause.OnProgress();
        _choice.End();
        _asks.Close();
        _isHolder = true;
        _strangers.NoteUnknown(_members, Now);
        if (!_isComplete)
        {
            _isComplete = true;
            _wire.OnComplete();
        }
    }

    private void OnTick()
    {
        if (_isClosed)
        {
            return;
        }

        // First, because what follows may throw, where there is no memory.
        Schedule();
        var age = Now - _since;
        switch (_phase)
        {
            case Phase.Viewing when _wire.KnowsAllMembers:
                OnMembers();
                Hello();
                break;
            case Phase.Greeting when age >= SilenceLimit:
                Pause();
                break;
            case Phase.Taking when !_members.Contains(_take.Source):
                Fail(StateAskEnd.Left);
                break;
            case Phase.Taking when age >= SilenceLimit:
                Fail(StateAskEnd.Silent);
                break;
            case Phase.Taking when Now - _askedAt >= _choice.TakeLimit:
                Fail(StateAskEnd.Endless);
                break;
            case Phase.Greeting:
                Choose();
                break;
            case Phase.Pausing when _pause.IsOver(age):
                _pause.EndUseless();
                Hello();
                break;
            case Phase.Complete when _strangers.TryMeet(Now):
                _isComplete = false;
                Hello();
                break;
        }

        _asks.Look();
        GiveWhoIsReady();
        Schedule();
    }

    private void Schedule()
    {
        if (!_isClosed && !_alarm.IsPending && (_phase != Phase.Complete || _strangers.IsAnyUnknown || _joins.IsAnyWaiting))
        {
            _core.Environment.Schedule(_alarm, Tick);
        }
    }
}
