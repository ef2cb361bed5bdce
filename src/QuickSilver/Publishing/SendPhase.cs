using System.Runtime.CompilerServices;
using QuickSilver.Core.Diagnostics;

namespace QuickSilver.Publishing;

// How the messages of one topic come to its sender. Core thread only.
//
//   open -> straight      a message of the lane was sent, and nothing waits here: the next one is passed directly
//   straight -> open      something may have to precede the next message
//   any -> blocked        the sender had no room, and asks when it has
//   blocked -> open       it asks, or is another one
//   idle -> pumping       requests and feeds are sent; a call within that has no effect
//   pumping -> idle
//
// Invariant: a topic that is straight is not blocked. Other moves throw.
internal struct SendPhase
{
    private bool _feedsFirst;
    private bool _laneFirst;

    /// <summary>Whether a message from the lane is passed directly to the sender, while nothing waits here.</summary>
    public bool IsStraight { get; private set; }

    public bool IsBlocked { get; private set; }

    public bool IsPumping { get; private set; }

    /// <summary>Whether the intake has the topic in its list of those that wait for the lane.</summary>
    public bool IsAwaitingLane { get; private set; }

    public void BeginPump()
    {
        Require(!IsPumping);
        IsPumping = true;
    }

    public void EndPump()
    {
        Require(IsPumping);
        IsPumping = false;
    }

    public void BeginStraight()
    {
        Require(!IsBlocked);
        IsStraight = true;
    }

    public void EndStraight() => IsStraight = false;

    public void Block()
    {
        IsBlocked = true;
        IsStraight = false;
    }

    public void Unblock() => IsBlocked = false;

    public void BeginAwaitLane()
    {
        Require(!IsAwaitingLane);
        IsAwaitingLane = true;
    }

    public void EndAwaitLane()
    {
        Require(IsAwaitingLane);
        IsAwaitingLane = false;
    }

    /// <summary>Requests and feeds are first in turn, so neither starves. Whether feeds are first this time.</summary>
    public bool TakeTurnOfFeeds(bool hasFeeds) => _feedsFirst = !_feedsFirst && hasFeeds;

    /// <summary>The lane and what waits here are first in turn. Whether the lane is first this time.</summary>
    public bool TakeTurnOfLane() => _laneFirst = !_laneFirst;

    public override readonly string ToString() =>
        (IsStraight ? "straight" : IsBlocked ? "blocked" : "open") + (IsPumping ? ", pumping" : "")
        + (IsAwaitingLane ? ", awaiting the lane" : "");

    private readonly void Require(bool isLegal, [CallerMemberName] string move = "") =>
        StateMove.Require(isLegal, "topic", this, move);
}
