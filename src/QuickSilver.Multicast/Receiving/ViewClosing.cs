using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Schemes;
using QuickSilver.Multicast.Views;

namespace QuickSilver.Multicast.Receiving;

// When one member may close a view.
//
//   Current -> Superseded    a configuration has a newer view of the region, or none
//   Superseded -> closed     this member has everything, and no other member can lack what only this one holds
//
// A departed sender cannot report what it sent, so the others are asked: until all members have held the same for a while, and were heard
// in that time, one of them may know of more. Silence alone does not show this, because a member, or this node, may have been paused. Only
// a long silence shows that the others have closed the view.
//
// Invariants: a view is superseded once. A departed node counts only if it may have sent in the view.
internal sealed class ViewClosing(NodeContext context, long configuration, IStabilityTracker stability, LiveMembers live)
{
    private const long MostLater = long.MaxValue;

    // After a silence of so many closing pauses no other member is there, if all that were asked have answered.
    private const int PausesAlone = 3;

    /// <summary>So many departed nodes are remembered before those are forgotten of which no member can report anything any more.</summary>
    public const int MostDeparted = 1024;

    // The nodes that were removed since the view was opened, and when. A removed node may have sent in the view although this member has
    // received nothing from it. If it returns to the cluster, it does not return to this view. Null until a node is removed.
    private Dictionary<NodeKey, TimeSpan>? _gone;
    private TimeSpan _lastGoneAt = context.Environment.Now;
    // The last configuration that removed one of them; MostLater if the numbers of two services were involved, which cannot be compared.
    private long _goneThrough;
    // The newest configuration that is known to have the view: its own, or the first of a service that took over and continues with it.
    private long _confirmedAt = configuration;
    // How long this node has stood still since the other members were last heard of, at this moment.
    private (TimeSpan HeardAt, TimeSpan Length) _stoodStill;

    /// <summary>The configuration that superseded the view; 0 while it is current.</summary>
    public long SupersededAt { get; private set; }

    /// <summary>When the view was superseded; meaningless before.</summary>
    public TimeSpan SupersededSince { get; private set; }

    /// <summary>The number of departed nodes that are remembered.</summary>
    public int Departed => _gone?.Count ?? 0;

    /// <summary>
    /// Whether the other members have been silent for so long that they have closed the view. Until a member that has failed is removed,
    /// the others may be silent because of it, and after that they have to begin. A member that has closed the view says so when it is
    /// asked, as long as it remembers.
    /// </summary>
    public bool IsAlone
    {
        get
        {
            var since = _lastGoneAt > stability.LastHeard ? _lastGoneAt : stability.LastHeard;
            var silence = stability.IsAwaitingAnswer ? ClosedViews.Age : context.Options.ClosingPause * PausesAlone;
            return context.Environment.Now - since - StoodStill >= silence;
        }
    }

    private bool HasPassedOnAgreement => AgreementWanted is var wanted && (wanted == 0 || stability.HasPassedOn(wanted));

    private TimeSpan StoodStill => _stoodStill.HeardAt == stability.LastHeard ? _stoodStill.Length : TimeSpan.Zero;

    public void Supersede(long configuration)
    {
        if (SupersededAt == 0)
        {
            SupersededAt = configuration;
            SupersededSince = context.Environment.Now;
        }
    }

    /// <summary>A configuration names the view again, with no change.</summary>
    public void Confirm(long configuration)
    {
        _confirmedAt = configuration;
        TakeBackNew(configuration);
    }

    /// <summary>
    /// Notes that a node was removed. Returns false if it came when the view was over: then it has never heard of the view. Otherwise,
    /// views would wait for the senders of later ones, and while nodes come and go none would ever be closed.
    /// </summary>
    /// <param name="lost">The node.</param>
    /// <param name="configuration">The configuration that removed it; null: it is missing in that of another service.</param>
    public bool TryLose(LostNode lost, long? configuration)
    {
        if (SupersededAt != 0 && lost.Since >= SupersededAt)
        {
            return false;
        }

        (_gone ??= [])[lost.Key] = _lastGoneAt = context.Environment.Now;
        _goneThrough = Math.Max(_goneThrough, configuration ?? MostLater);
        return true;
    }

    /// <summary>
    /// Forgets departed nodes if there are many: a view may be in use for years, and after a while the members have reported to each other
    /// what a departed node has sent in it.
    /// </summary>
    /// <param name="mayForget">Whether this member has no stream of the node, and the node was no member.</param>
    public void ForgetDeparted(Predicate<NodeKey> mayForget)
    {
        if (Departed <= MostDeparted)
        {
            return;
        }

        var old = context.Environment.Now - (context.Options.ClosingPause * 3);
        foreach (var (node, at) in _gone!)
        {
            if (at < old && mayForget(node))
            {
                _gone.Remove(node);
            }
        }
    }

    /// <summary>
    /// Takes back nodes that a configuration announces as new. One that was announced before, by this service or an earlier one, and was
    /// removed before it heard of that, has sent nothing in the view, and may send in the view now.
    /// </summary>
    public void TakeBackNew(long configuration)
    {
        foreach (var node in _gone?.Keys ?? Enumerable.Empty<NodeKey>())
        {
            if (context.Directory.IsNew(node, configuration))
            {
                _gone!.Remove(node);
            }
        }
    }

    /// <summary>A configuration names all nodes again, perhaps of another service: it shows nothing about earlier removals.</summary>
    public void OnSnapshot() => _goneThrough = Departed > 0 ? MostLater : 0;

    /// <summary>This node stood still for so long.</summary>
    public void OnPause(TimeSpan length) => _stoodStill = (stability.LastHeard, StoodStill + length);

    public bool HasLost(NodeKey node) =>
        (_gone is not null && _gone.ContainsKey(node)) || !context.Directory.Shares(node, _confirmedAt);

    /// <summary>When the node departed; <paramref name="otherwise"/> if that is not known.</summary>
    public TimeSpan GoneAt(NodeKey node, TimeSpan otherwise) =>
        _gone is not null && _gone.TryGetValue(node, out var at) ? at : otherwise;

    /// <summary>
    /// The configuration through which the members are to agree on what departed nodes have sent; 0: they agree, or it is not worth waiting
    /// for any more.
    /// </summary>
    public long AgreementWanted => Departed == 0 || _goneThrough == MostLater || !MayOthersKnowMoreSince(_lastGoneAt) ? 0 : _goneThrough;

    /// <summary>
    /// For a settled view: whether this node has delivered everything that was sent in it. Other members may know of more packets of a
    /// departed node until the members agree on them, or have held the same for a while. Whether they have consumed them does not matter.
    /// </summary>
    /// <param name="isDrained">Whether all streams are drained.</param>
    public bool HasAll(bool isDrained) => isDrained
        && (Departed == 0 || stability.AgreedThrough >= _goneThrough || !MayOthersKnowMoreSince(_lastGoneAt));

    /// <summary>
    /// Whether the view may be closed: all streams are drained and, if a node has departed and cannot answer any more, no member has had
    /// anything open for a while. Until then, another member may lack packets that only this one holds. And what the members agree on must
    /// have reached those that learn it from this one.
    /// </summary>
    /// <param name="isDrained">Whether all streams are drained.</param>
    public bool MayClose(bool isDrained) => HasAll(isDrained) && (Departed == 0 || live.Count <= 1
        || (context.Environment.Now - stability.LastUnconsumed >= context.Options.ClosingPause && HasPassedOnAgreement));

    /// <summary>
    /// Whether other members may still report more packets of a departed sender than are known here, until all members have held everything
    /// for a while.
    /// </summary>
    public bool MayHearMoreOf(NodeKey sender) => HasLost(sender) && MayOthersKnowMoreSince(GoneAt(sender, _lastGoneAt));

    // Whether other members may know of more packets of nodes that departed until this time.
    private bool MayOthersKnowMoreSince(TimeSpan gone)
    {
        var (now, heard, pause) = (context.Environment.Now, stability.LastHeard, context.Options.ClosingPause);
        var last = gone > stability.LastUnstable ? gone : stability.LastUnstable;
        bool isLong = now - last >= pause && (heard - last >= pause / 2 || IsAlone);
        return live.Count > 1 && !isLong;
    }
}
