using QuickSilver.Core.Diagnostics;

namespace QuickSilver.Multicast.Stability.Rounds;

// The rounds of a ring at the member that leads it: one is due, or its token is under way.
//
//   Waiting  -> Due        packets came, or a sender asks for an acknowledgement
//   Waiting, Due -> InFlight   the token is released
//   InFlight -> Due        the token has returned, or was waited for too long
//   Due      -> Waiting    the round has found nothing new, or nothing is open
//   any      -> Due        the members have changed, and this member leads them
//   any      -> Waiting    the members have changed, and another member leads them
//
// A round that waits begins in time too, but packets that come meanwhile end the wait. One that is due begins when it was scheduled.
//
// Application: the owner schedules what is due and sends the token. What goes wrong: the token is lost, so the round is given up after
// a timeout and another one begins. The token of a round that was given up may still return: it shows that rounds take longer.
//
// Invariants: a round has one number, and a later one has a higher number even if other members led in between. At most one token is
// under way. Other transitions throw.
internal struct RingLeader(RoundTimer clock)
{
    private const int TimeoutsUntilProbe = 3;

    // So many rounds follow each other at the active interval while the members wait to agree.
    private const int AwaitedRounds = 8;

    // After so many rounds in which nothing was open, the ring rests. They take longer than whatever waits for the end of a silence.
    private const int IdleRounds = 10;

    private State _state;
    // The number of rounds since the last one in which anything was open.
    private int _idle;
    private bool _isRestAnnounced;

    private enum State : byte
    {
        Waiting,
        Due,
        InFlight,
    }

    /// <summary>The durations of the rounds.</summary>
    public readonly RoundTimer Clock => clock;

    /// <summary>The last round that this member began.</summary>
    public long Round { get; private set; }

    /// <summary>Whether the token is under way.</summary>
    public readonly bool IsInFlight => _state == State.InFlight;

    /// <summary>Whether a sender has asked for the result of the next round, or of the present one.</summary>
    public bool IsWanted { get; private set; }

    /// <summary>
    /// Whether nothing was open for long. The next round announces it, and if it finds nothing, the one after it comes only after the
    /// longest interval.
    /// </summary>
    public readonly bool WillRest => _idle >= IdleRounds && !clock.IsSteady;

    /// <summary>The number of rounds since the last one in which a value changed.</summary>
    public int Unchanged { get; private set; }

    /// <summary>Packets have come. Returns whether a round is to begin soon.</summary>
    /// <param name="isScheduled">Whether the next round is scheduled.</param>
    public bool TryHurry(bool isScheduled)
    {
        _idle = 0;
        if (IsInFlight || (_state == State.Due && isScheduled) || clock.IsSteady)
        {
            return false;
        }

        _state = State.Due;
        return true;
    }

    /// <summary>A sender asks for the result of a round. Returns whether one is to begin at once.</summary>
    public bool TryWant()
    {
        _idle = 0;
        if (clock.IsSteady)
        {
            return false;
        }

        IsWanted = true;
        if (IsInFlight)
        {
            // The next round begins when the present one is over.
            return false;
        }

        _state = State.Due;
        return true;
    }

    /// <summary>The token is released. Returns how long to wait for it.</summary>
    public TimeSpan Begin(TimeSpan now)
    {
        Require(!IsInFlight, nameof(Begin));
        _state = State.InFlight;
        _isRestAnnounced = WillRest;
        Round++;
        clock.Begin(Round, now);
        return clock.Timeout;
    }

    /// <summary>Whether a token of this round ends the present one. If it is late, it shows how long rounds take.</summary>
    public readonly bool TryReturn(long round, TimeSpan now)
    {
        if (IsInFlight && round == Round)
        {
            return true;
        }

        clock.OnLate(round, now);
        return false;
    }

    /// <summary>The token has returned.</summary>
    /// <param name="hasVisitedAll">Whether it has skipped no member.</param>
    /// <param name="now">The current time.</param>
    public void End(bool hasVisitedAll, TimeSpan now)
    {
        Require(IsInFlight, nameof(End));
        _state = State.Due;
        clock.End(now);
        if (hasVisitedAll)
        {
            clock.HeardAllAt = now;
        }
    }

    /// <summary>The token has not returned in time. Returns whether all members are to be probed.</summary>
    /// <param name="now">The current time.</param>
    /// <param name="patience">How long members may not have been heard.</param>
    public bool Lose(TimeSpan now, TimeSpan patience)
    {
        Require(IsInFlight, nameof(Lose));
        _state = State.Due;
        clock.OnTimeout();
        return clock.Timeouts >= TimeoutsUntilProbe && now - clock.HeardAllAt >= patience;
    }

    /// <summary>Something is open after a round. Returns how long to wait until the next one.</summary>
    /// <param name="hasMoved">Whether the rounds have shown anything new; null: that is not known yet.</param>
    /// <param name="isAwaited">
    /// Whether the members wait to agree. What a round shows then depends on when each has applied what they agree on.
    /// </param>
    /// <param name="now">The current time.</param>
    public TimeSpan Continue(bool? hasMoved, bool isAwaited, TimeSpan now)
    {
        Require(!IsInFlight, nameof(Continue));
        Unchanged = hasMoved switch
        {
            true => 0,
            false => Unchanged + 1,
            null => Unchanged,
        };
        _idle = 0;
        _state = Unchanged > 0 ? State.Waiting : State.Due;
        int patient = isAwaited ? Math.Max(0, Unchanged - AwaitedRounds) : Unchanged;
        return TakeWanted() ? TimeSpan.Zero : clock.OpenInterval(patient, now);
    }

    /// <summary>Nothing is open. Returns how long to wait until the next round.</summary>
    public TimeSpan Rest(TimeSpan now)
    {
        Require(!IsInFlight, nameof(Rest));
        _state = State.Waiting;
        TakeWanted();
        // Packets may have come since the round began.
        bool isResting = _isRestAnnounced && WillRest;
        _idle = Math.Min(_idle + 1, IdleRounds);
        return clock.IdleInterval(isResting, now);
    }

    /// <summary>The members of the ring have changed: the token that is under way may be lost.</summary>
    /// <param name="isLeader">Whether this member leads them.</param>
    public void OnMembersChanged(bool isLeader)
    {
        _state = isLeader ? State.Due : State.Waiting;
        Unchanged = 0;
        _idle = 0;
        clock.Reset();
    }

    public override readonly string ToString() => $"{_state} {Round}";

    private bool TakeWanted()
    {
        bool isWanted = IsWanted;
        IsWanted = false;
        return isWanted;
    }

    private readonly void Require(bool isLegal, string move) =>
        StateMove.Require(isLegal, "ring", this, move);
}
