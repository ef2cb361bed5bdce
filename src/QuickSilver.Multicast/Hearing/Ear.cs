namespace QuickSilver.Multicast.Hearing;

internal enum EarState : byte
{
    // Something came by unicast and nothing over the group: perhaps it is on its way.
    Wondering,
    // Probes were asked for.
    Asking,
    // The sender is told, and has not answered yet.
    Deaf,
    // The sender sends copies.
    Served,
    // The group is heard again; the sender is told, and has not answered yet.
    Back,
    // The group was heard a moment ago: no more questions for now.
    Content,
    // The sender sends to no groups.
    Exempt,
}

// What one member has found out of one sender in one region: whether it hears it over the group.
//
// Intuition: that nothing comes proves nothing, as perhaps nothing was sent. Application: whoever gets something by unicast and
// has heard nothing over the group for a while asks the sender for a probe over the group. The sender answers by unicast too: so
// a sender that was asleep is not taken for one that cannot be heard. After three answers and no probe the member calls itself deaf
// until the sender confirms that it sends copies. It hears again when something came over the group at three moments apart, and
// keeps saying so until the sender has taken it from its list. What goes wrong: either side may forget (a view ends, a region goes
// out of sight), so a member that is served says now and then that it still needs it, and the sender repeats to those who have not
// said so what they get.
internal sealed class Ear
{
    public static readonly TimeSpan AskEvery = TimeSpan.FromMilliseconds(200);
    // A lost report is repeated after this, doubled up to RefreshEvery, at which a served member says that it still is deaf.
    public static readonly TimeSpan RepeatAfter = TimeSpan.FromMilliseconds(250);
    public static readonly TimeSpan RefreshEvery = TimeSpan.FromSeconds(10);
    private const int AnswersUntilDeaf = 3;
    private const int MostAskDoublings = 3;
    // Moments at which something came over the group, apart by at least CountEvery, none later than ForgetAfter after the last.
    private const int MomentsUntilBack = 3;
    private static readonly TimeSpan CountEvery = TimeSpan.FromMilliseconds(300);
    private static readonly TimeSpan ForgetAfter = TimeSpan.FromSeconds(20);
    private static readonly TimeSpan ContentFor = TimeSpan.FromSeconds(1);

    private int _answers;
    private int _unanswered;
    private bool _isAnswered;
    private int _moments;
    private TimeSpan _countedAt;
    private TimeSpan _repeat;

    /// <param name="mayHear">Whether this node has a port in the group at all; if not, nothing needs to be asked.</param>
    public Ear(bool mayHear) => State = mayHear ? EarState.Wondering : EarState.Deaf;

    public EarState State { get; private set; }

    /// <summary>The last probe heard.</summary>
    public long LastProbe { get; private set; }

    /// <summary>Nothing comes over the group, as far as is known.</summary>
    public bool IsDeaf => State is EarState.Deaf or EarState.Served && _moments == 0;

    /// <summary>The time has come that was named last. What to say, and when to come again; null and null: forget this.</summary>
    public (HearingWord? Say, TimeSpan? Again) OnDue()
    {
        switch (State)
        {
            case EarState.Wondering:
                State = EarState.Asking;
                return (HearingWord.Asks, AskEvery);
            case EarState.Asking:
                _answers += _isAnswered ? 1 : 0;
                _unanswered = _isAnswered ? 0 : _unanswered + 1;
                _isAnswered = false;
                if (_answers >= AnswersUntilDeaf)
                {
                    State = EarState.Deaf;
                    return (HearingWord.Deaf, Repeat());
                }

                return (HearingWord.Asks, AskEvery * (1 << Math.Min(_unanswered, MostAskDoublings)));
            case EarState.Deaf:
                return (HearingWord.Deaf, Repeat());
            case EarState.Served:
                return (HearingWord.Deaf, RefreshEvery);
            case EarState.Back:
                return (HearingWord.Hears, Repeat());
            case EarState.Exempt:
                return (null, RefreshEvery);
            default:
                return (null, null);
        }
    }

    /// <summary>A probe, which the network may have doubled or held back. As <see cref="OnHeard"/>.</summary>
    public TimeSpan? OnProbe(long number, TimeSpan now)
    {
        if (number <= LastProbe)
        {
            return null;
        }

        LastProbe = number;
        return OnHeard(now);
    }

    /// <summary>Something of the sender came over the group. When to call <see cref="OnDue"/>; null: as it was.</summary>
    public TimeSpan? OnHeard(TimeSpan now)
    {
        if (State is EarState.Wondering or EarState.Asking)
        {
            State = EarState.Content;
            return ContentFor;
        }

        if (State is not (EarState.Deaf or EarState.Served) || (_moments > 0 && now - _countedAt < CountEvery))
        {
            return null;
        }

        _moments = _moments > 0 && now - _countedAt > ForgetAfter ? 1 : _moments + 1;
        _countedAt = now;
        if (_moments < MomentsUntilBack)
        {
            return null;
        }

        State = EarState.Back;
        _repeat = TimeSpan.Zero;
        return TimeSpan.Zero;
    }

    /// <summary>What the sender says by unicast. When to call <see cref="OnDue"/>; null: as it was.</summary>
    public TimeSpan? OnAnswer(HearingWord word)
    {
        switch (word)
        {
            case HearingWord.Served when State is not (EarState.Served or EarState.Back or EarState.Exempt):
                State = EarState.Served;
                return RefreshEvery;
            case HearingWord.Unserved when State == EarState.Asking:
                _isAnswered = true;
                return null;
            case HearingWord.Unserved when State == EarState.Served:
                State = EarState.Deaf;
                _repeat = TimeSpan.Zero;
                return TimeSpan.Zero;
            case HearingWord.Unserved when State == EarState.Back:
                State = EarState.Content;
                return ContentFor;
            case HearingWord.NoGroups:
                State = EarState.Exempt;
                return RefreshEvery;
            default:
                return null;
        }
    }

    public override string ToString() => $"{State}, {_answers} answers, {_moments} moments";

    private TimeSpan Repeat() =>
        _repeat = _repeat == TimeSpan.Zero ? RepeatAfter : _repeat * 2 < RefreshEvery ? _repeat * 2 : RefreshEvery;
}
