using QuickSilver.Core.Diagnostics;

namespace QuickSilver.Multicast.Receiving.States;

// The phase of one sender's stream at one receiver.
//
//   Open -> Departed         the sender was removed, or others report that before the membership service does
//   Departed -> Open         the sender is in the directory after all
//   Departed -> Deciding     this member has reported what it lacks, and accepts nothing more, so that the report stays true
//   Deciding -> Departed     the members have decided what is lost, or start again
//   Deciding -> Open         the sender is in the directory after all: there is nothing to decide
//   any -> Closed            the view is closed here
//
// Invariant: only these transitions occur. Others throw, because they mean that settlement and the receiving side disagree on what was
// reported.
internal struct StreamPhase
{
    private State _state;

    private enum State : byte
    {
        Open,
        Departed,
        Deciding,
        Closed,
    }

    /// <summary>The sender is not in the directory: only other members can supply what is missing.</summary>
    public readonly bool IsSenderGone => _state is State.Departed or State.Deciding;

    /// <summary>The members are deciding what is lost: packets that are sent again now are refused.</summary>
    public readonly bool IsDeciding => _state == State.Deciding;

    public readonly bool IsClosed => _state == State.Closed;

    public void SenderLeft()
    {
        Require(!IsClosed, nameof(SenderLeft));
        _state = IsDeciding ? State.Deciding : State.Departed;
    }

    public void SenderReturned()
    {
        Require(IsSenderGone, nameof(SenderReturned));
        _state = State.Open;
    }

    /// <summary>Legal in a decision too, because each token begins it again.</summary>
    public void BeginDecision()
    {
        Require(IsSenderGone, nameof(BeginDecision));
        _state = State.Deciding;
    }

    /// <summary>Legal without a decision here too, because others may have decided without this member.</summary>
    public void EndDecision()
    {
        Require(!IsClosed, nameof(EndDecision));
        _state = IsDeciding ? State.Departed : _state;
    }

    public void Close() => _state = State.Closed;

    public override readonly string ToString() => _state.ToString();

    private readonly void Require(bool isLegal, string move) =>
        StateMove.Require(isLegal, "stream", this, move);
}
