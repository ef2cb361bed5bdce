using System.Runtime.CompilerServices;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Publishing.Requests;

namespace QuickSilver.Publishing.Lane;

// How the intake drains the lane, and what is known of a lane that stands. Core thread only, except for StandsFor.
//
//   idle -> draining -> idle     one turn
//   moving -> waiting            the first message has no room, or a turn was cut short: all topics wait for a moment
//   waiting -> stuck             the lane's head has not moved meanwhile: the intake checks the other topics
//   waiting -> moving            it has moved
//   stuck -> moving              a message was passed on
//   any -> short                 the heap has no memory to move a message out of the way: none is moved until the next wait has ended
//
// Invariants: there is one wait at a time. A gate stands only while the lane is stuck. Other moves throw.
internal struct DrainPhase
{
    // The topic whose message stops the lane.
    private PublishGate? _standsFor;
    // The lane's head when the wait began.
    private long _stoodAt;

    /// <summary>Whether a turn runs. A call within it has no effect, because the outer call continues.</summary>
    public bool IsDraining { get; private set; }

    public bool IsWaiting { get; private set; }

    /// <summary>Whether the lane has been stopped for longer than the intake's patience.</summary>
    public bool IsStuck { get; private set; }

    public bool IsShort { get; private set; }

    /// <summary>From any thread: whether this topic or none stops the lane.</summary>
    public readonly bool StandsFor(PublishGate gate) =>
        Volatile.Read(in _standsFor) is not { } stuck || ReferenceEquals(stuck, gate);

    public void BeginTurn()
    {
        Require(!IsDraining);
        IsDraining = true;
    }

    public void EndTurn()
    {
        Require(IsDraining);
        IsDraining = false;
    }

    public void BeginWait(long head)
    {
        Require(!IsWaiting);
        _stoodAt = head;
        IsWaiting = true;
    }

    /// <summary>A lane that has moved meanwhile only waits for its turns.</summary>
    public void EndWait(long head)
    {
        Require(IsWaiting);
        IsWaiting = false;
        IsStuck = head == _stoodAt;
        IsShort = false;
    }

    /// <summary>A message of the lane was passed on.</summary>
    public void OnMoved() => IsStuck = false;

    public void BeginShort()
    {
        Require(!IsShort);
        IsShort = true;
        IsStuck = false;
    }

    public void Stand(PublishGate gate)
    {
        Require(IsStuck);
        Volatile.Write(ref _standsFor, gate);
    }

    /// <summary>No topic stops the lane, as far as is known.</summary>
    public void Release() => Volatile.Write(ref _standsFor, null);

    public override readonly string ToString() =>
        (IsDraining ? "draining, " : "") + (IsStuck ? "stuck" : "moving") + (IsWaiting ? ", waiting" : "") + (IsShort ? ", short" : "");

    private readonly void Require(bool isLegal, [CallerMemberName] string move = "") =>
        StateMove.Require(isLegal, "lane", this, move);
}
