namespace QuickSilver.Multicast.Hearing;

internal enum HearingState : byte
{
    // A packet came by unicast and none over the group. One may still be on its way.
    Suspecting,
    // Probes were requested.
    Asking,
    // This member reports that it is deaf; the sender has not confirmed it yet.
    Deaf,
    // The sender has confirmed that it sends copies.
    Served,
    // The group is heard again, and this member reports it; the sender has not confirmed it yet.
    Recovered,
    // The group was heard a moment ago, so no probe is requested for now.
    Hearing,
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
// region is no longer known), so a served member repeats its report from time to time, and the sender notifies members that have not
// repeated it.
internal sealed class GroupHearing
{
    public static readonly TimeSpan AskEvery = TimeSpan.FromMilliseconds(200);
    // A report is repeated after this time, which doubles up to RefreshEvery. A served member repeats its report every RefreshEvery.
    public static readonly TimeSpan RepeatAfter = TimeSpan.FromMilliseconds(250);
    public static readonly TimeSpan RefreshEvery = TimeSpan.FromSeconds(10);
    private const int AnswersUntilDeaf = 3;
    private const int MostAskDoublings = 3;
    // So many moments at which a packet came over the group, at least CountEvery apart and none later than ForgetAfter after the last.
    private const int MomentsUntilRecovered = 3;
    private static readonly TimeSpan CountEvery = TimeSpan.FromMilliseconds(300);
    private static readonly TimeSpan ForgetAfter = TimeSpan.FromSeconds(20);
    private static readonly TimeSpan HearingFor = TimeSpan.FromSeconds(1);

    private int _answers;
    private int _unanswered;
    private bool _isAnswered;
    private int _moments;
    private TimeSpan _countedAt;
    private TimeSpan _repeat;

    /// <param name="mayHear">Whether this node has a port in the group. If not, no question is necessary.</param>
    public GroupHearing(bool mayHear) => State = mayHear ? HearingState.Suspecting : HearingState.Deaf;

    public HearingState State { get; private set; }

    /// <summary>The number of the last probe heard.</summary>
    public long LastProbe { get; private set; }

    /// <summary>Whether this member receives nothing over the group, as far as it knows.</summary>
    public bool IsDeaf => State is HearingState.Deaf or HearingState.Served && _moments == 0;

    /// <summary>
    /// Called at the time that was returned last. Returns what to send, and when to call again; null and null: the entry can be removed.
    /// </summary>
    public (HearingWord? Say, TimeSpan? Again) OnDue()
    {
        switch (State)
        {
            case HearingState.Suspecting:
                State = HearingState.Asking;
                return (HearingWord.Asks, AskEvery);
            case HearingState.Asking:
                _answers += _isAnswered ? 1 : 0;
                _unanswered = _isAnswered ? 0 : _unanswered + 1;
                _isAnswered = false;
                if (_answers >= AnswersUntilDeaf)
                {
                    State = HearingState.Deaf;
                    return (HearingWord.Deaf, Repeat());
                }

                return (HearingWord.Asks, AskEvery * (1 << Math.Min(_unanswered, MostAskDoublings)));
            case HearingState.Deaf:
                return (HearingWord.Deaf, Repeat());
            case HearingState.Served:
                return (HearingWord.Deaf, RefreshEvery);
            case HearingState.Recovered:
                return (HearingWord.Hears, Repeat());
            case HearingState.Exempt:
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
        if (State is HearingState.Suspecting or HearingState.Asking)
        {
            State = HearingState.Hearing;
            return HearingFor;
        }

        if (State is not (HearingState.Deaf or HearingState.Served) || (_moments > 0 && now - _countedAt < CountEvery))
        {
            return null;
        }

        _moments = _moments > 0 && now - _countedAt > ForgetAfter ? 1 : _moments + 1;
        _countedAt = now;
        if (_moments < MomentsUntilRecovered)
        {
            return null;
        }

        State = HearingState.Recovered;
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
            case HearingWord.Served when State is not (HearingState.Served or HearingState.Recovered or HearingState.Exempt):
                State = HearingState.Served;
                return RefreshEvery;
            case HearingWord.Unserved when State == HearingState.Asking:
                _isAnswered = true;
                return null;
            case HearingWord.Unserved when State == HearingState.Served:
                State = HearingState.Deaf;
                _repeat = TimeSpan.Zero;
                return TimeSpan.Zero;
            case HearingWord.Unserved when State == HearingState.Recovered:
                State = HearingState.Hearing;
                return HearingFor;
            case HearingWord.NoGroups:
                State = HearingState.Exempt;
                return RefreshEvery;
            default:
                return null;
        }
    }

    public override string ToString() => $"{State}, {_answers} answers, {_moments} moments";

    private TimeSpan Repeat() =>
        _repeat = _repeat == TimeSpan.Zero ? RepeatAfter : _repeat * 2 < RefreshEvery ? _repeat * 2 : RefreshEvery;
}
