namespace QuickSilver.Multicast.Hearing;

internal enum EarState : byte
{
    // A packet came by unicast and none over the group. One may still be on its way.
    Wondering,
    // Probes were requested.
    Asking,
    // This member reports that it is deaf; the sender has not confirmed it yet.
    Deaf,
    // The sender has confirmed that it sends copies.
    Served,
    // The group is heard again, and this member reports it; the sender has not confirmed it yet.
    Back,
    // The group was heard a moment ago, so no probe is requested for now.
    Content,
    // The sender sends to no groups.
    Exempt,
}

// What one member knows about one sender in one region: whether it hears that sender over the group.
//
// Intuition: receiving nothing proves nothing, as perhaps nothing was sent. Application: a member that receives a unicast packet, and has
// received nothing over the group for a while, asks the sender for a probe over the group. The sender also answers by unicast, so a paused
// sender is not mistaken for one that cannot be heard. After three answers without a probe, the member reports that it is deaf until the
// sender confirms that it sends copies. When packets have come over the group at three separate moments, the member reports that it hears
// until the sender confirms that it has removed the member from its list. What goes wrong: either side may forget (a view is closed, or a
// region is no longer known), so a served member repeats its report now and then, and the sender notifies members that have not repeated
// it.
internal sealed class Ear
{
    public static readonly TimeSpan AskEvery = TimeSpan.FromMilliseconds(200);
    // A report is repeated after this time, which doubles up to RefreshEvery. A served member repeats its report every RefreshEvery.
    public static readonly TimeSpan RepeatAfter = TimeSpan.FromMilliseconds(250);
    public static readonly TimeSpan RefreshEvery = TimeSpan.FromSeconds(10);
    private const int AnswersUntilDeaf = 3;
    private const int MostAskDoublings = 3;
    // So many moments at which a packet came over the group, at least CountEvery apart and none later than ForgetAfter after the last.
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

    /// <param name="mayHear">Whether this node has a port in the group. If not, no question is necessary.</param>
    public Ear(bool mayHear) => State = mayHear ? EarState.Wondering : EarState.Deaf;

    public EarState State { get; private set; }

    /// <summary>The number of the last probe heard.</summary>
    public long LastProbe { get; private set; }

    /// <summary>Whether this member receives nothing over the group, as far as it knows.</summary>
    public bool IsDeaf => State is EarState.Deaf or EarState.Served && _moments == 0;

    /// <summary>
    /// Called at the time that was returned last. Returns what to send, and when to call again; null and null: the entry can be removed.
    /// </summary>
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

    /// <summary>Handles a probe, which the network may have duplicated or delayed. Returns the same as <see cref="OnHeard"/>.</summary>
    public TimeSpan? OnProbe(long number, TimeSpan now)
    {
        if (number <= LastProbe)
        {
            return null;
        }

        LastProbe = number;
        return OnHeard(now);
    }

    /// <summary>
    /// Handles a packet that came over the group. Returns when to call <see cref="OnDue"/>; null if that has not changed.
    /// </summary>
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

    /// <summary>
    /// Handles an answer of the sender, which comes by unicast. Returns when to call <see cref="OnDue"/>; null if that has not changed.
    /// </summary>
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
