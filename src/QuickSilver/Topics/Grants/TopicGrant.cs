using System.Runtime.CompilerServices;
using QuickSilver.Core.Diagnostics;
using QuickSilver.Membership.Contracts;

namespace QuickSilver.Topics.Grants;

// What the membership service has granted a node of one topic, and what the node is asking for.
//
//   Away -> Asking        the topic is asked for; at first it is away
//   Asking -> Granted     the service grants what was asked for
//   Asking -> Granted     the service refuses: what was granted before, and is still wanted, stays
//   Granted -> Asking     another access is wanted; meanwhile the node has what both grants contain
//   Granted -> Away       the topic is closed at the service
//   any -> Closed         the node has no endpoint of the topic any more
//
// Each receiver is a subscription of its own, because none may begin in the middle of a view: one that was opened after the request was
// made is not in the view that the service grants.
//
// Invariant: there is one request at a time. Other transitions throw.
internal struct TopicGrant
{
    // The number of receivers opened so far, and the number of the one for which the service was asked to subscribe; 0 if the last request
    // does not subscribe.
    private int _subscription;
    private int _askedSubscription;
    private bool _isSubscribedInView;

    /// <summary>The access that the node has.</summary>
    public TopicRole Role { get; private set; }

    /// <summary>Whether the service has not answered yet.</summary>
    public bool IsAsking { get; private set; }

    /// <summary>
    /// Whether a right was denied to several openings that ask for different things: then each is asked for alone.
    /// </summary>
    public bool AsksSingly { get; private set; }

    /// <summary>Whether the topic was closed at the service, and was not asked for since.</summary>
    public bool IsAway { get; private set; }

    public bool IsClosed { get; private set; }

    /// <summary>Whether the receiver that is open now belongs to the view of the topic.</summary>
    public readonly bool IsInView => _isSubscribedInView && _askedSubscription == _subscription;

    /// <summary>Whether the service has granted all of this access.</summary>
    public readonly bool Covers(TopicRole role) => (role & ~Role) == TopicRole.None;

    /// <summary>Whether the service knows the subscription of a receiver that is closed, and another one is wanted.</summary>
    public readonly bool IsStale(TopicRole wanted) =>
        Subscribes(wanted) && _askedSubscription != 0 && _askedSubscription != _subscription;

    /// <summary>
    /// What to ask for. No opening is denied because of what another one asks for: where they are asked for singly, the first that is not
    /// granted is added to those that are.
    /// </summary>
    /// <param name="held">What the open endpoints do.</param>
    /// <param name="openings">What each opening asks for, in order.</param>
    public readonly TopicRole RoleToAskFor(TopicRole held, IEnumerable<TopicRole> openings)
    {
        var role = held;
        bool isFirst = true;
        foreach (var opening in openings)
        {
            bool isGranted = Covers(opening);
            role |= !AsksSingly || isGranted || isFirst ? opening : TopicRole.None;
            isFirst &= isGranted;
        }

        return role;
    }

    public void OnReceiverOpened() => _subscription++;

    /// <summary>A view of the topic was installed.</summary>
    public void OnView(bool isSubscribed) => _isSubscribedInView = isSubscribed;

    public void AskSingly() => AsksSingly = true;

    /// <summary>No opening is left that could be denied something because of another one.</summary>
    public void OnNoOpenings() => AsksSingly = false;

    public void BeginAsk(TopicRole wanted)
    {
        Require(!IsAsking && !IsClosed);
        _askedSubscription = Subscribes(wanted) ? _subscription : 0;
        IsAway = false;
        Role &= wanted;
        _isSubscribedInView &= Subscribes(wanted);
        IsAsking = true;
    }

    public void EndAsk(TopicRole granted)
    {
        Require(IsAsking && !IsClosed);
        IsAsking = false;
        // If the new grant is narrower, the subscription of the last view has ended.
        _isSubscribedInView &= Subscribes(granted);
        Role = granted;
    }

    public void EndRefused()
    {
        Require(IsAsking && !IsClosed);
        IsAsking = false;
    }

    /// <summary>The service has withdrawn what it granted.</summary>
    public void Withdraw() => Role = TopicRole.None;

    /// <summary>The topic is closed at the service, to be asked for again at once: the subscription that it knows ends by that.</summary>
    public void EndStale()
    {
        Require(!IsAsking && !IsClosed);
        Role = TopicRole.None;
        _isSubscribedInView = false;
    }

    /// <summary>The topic is closed at the service.</summary>
    public void GoAway()
    {
        Require(!IsAsking && !IsClosed);
        Role = TopicRole.None;
        _isSubscribedInView = false;
        IsAway = true;
        _askedSubscription = 0;
    }

    public void Close()
    {
        Require(!IsClosed);
        IsClosed = true;
    }

    public override readonly string ToString() =>
        IsClosed ? "closed" : IsAsking ? $"asking, has {Role}" : IsAway ? "away" : $"has {Role}";

    private static bool Subscribes(TopicRole role) => (role & TopicRole.Subscribe) != TopicRole.None;

    private readonly void Require(bool isLegal, [CallerMemberName] string move = "") =>
        StateMove.Require(isLegal, "topic", this, move);
}
