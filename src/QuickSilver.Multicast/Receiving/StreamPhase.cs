namespace QuickSilver.Multicast.Receiving;

// Where one sender's stream is in its life at one receiver.
//
//   Open -> Departed         the sender was removed, or others tell of it before the membership service does
//   Departed -> Open         the directory has it after all
//   Departed -> Deciding     this member has told what it lacks: it takes nothing more, so that what it told stays true
//   Deciding -> Departed     the members have decided what is lost, or begin anew
//   Deciding -> Open         the directory has it after all: there is nothing to decide
//   any -> Closed            the view is closed here
//
// Other moves throw: they mean that those who decide and those who receive do not agree on what was told.
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

    /// <summary>The sender is not in the directory: what is missing can be had of the other members only.</summary>
    public readonly bool IsSenderGone => _state is State.Departed or State.Deciding;

    /// <summary>The members are deciding what is lost: whatever is sent again now is refused.</summary>
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

    /// <summary>Also when it had begun: each token asks anew.</summary>
    public void BeginDecision()
    {
        Require(IsSenderGone, nameof(BeginDecision));
        _state = State.Deciding;
    }

    /// <summary>Also when none had begun here: others may have decided without this member.</summary>
    public void EndDecision()
    {
        Require(!IsClosed, nameof(EndDecision));
        _state = IsDeciding ? State.Departed : _state;
    }

    public void Close() => _state = State.Closed;

    public override readonly string ToString() => _state.ToString();

    private readonly void Require(bool isLegal, string move)
    {
        if (!isLegal)
        {
            throw new InvalidOperationException($"A stream that is {_state} cannot make the move {move}.");
        }
    }
}

// What a member keeps of a stream beyond what it needs itself.
internal enum Retention : byte
{
    // Nobody asks for it: the member is alone, or the stream is not repaired.
    None,
    // The packets of its partition, until all members hold them.
    OwnPartition,
    // All packets: a partition has no member left that could keep its own.
    All,
}
