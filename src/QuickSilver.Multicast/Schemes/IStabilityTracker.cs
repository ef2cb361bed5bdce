using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Channels;

namespace QuickSilver.Multicast.Schemes;

// One member's part in finding out what the members of one open view hold of each reliable stream, what they have consumed, and what is
// lost. It works by itself, by alarms and packets of its own.
//
// What it does with what it finds: it notifies each stream of what all live members hold (SetStable) and, of a sender that is gone,
// what was sent (OnAnnounced), what no live member has (GiveUp), and that no more will come (Finish). The first live member reports to
// each sender (AggregateAck); a sender that gets no report for long suspects that member. While the tracker has nothing to do, it has the
// streams give back memory (Trim).
//
// Invariants: what it says that all hold, each live member holds, and continues to hold; all members give up the same packets of a sender
// that is gone, and none that a live member has handed up.
internal interface IStabilityTracker
{
    /// <summary>
    /// When a member was last known not to have consumed something that was sent, or not to hold it; at first, when the view was opened.
    /// </summary>
    TimeSpan LastUnconsumed { get; }

    /// <summary>
    /// When a member was last known not to hold something that was sent, or not to report what it holds; at first, when the view was
    /// opened.
    /// </summary>
    TimeSpan LastUnstable { get; }

    /// <summary>When the other members were last heard of; at first, when the view was opened.</summary>
    TimeSpan LastHeard { get; }

    /// <summary>
    /// The configuration through which the members agree on what departed nodes have sent in the view: of the nodes that were removed up to
    /// it, each member has reported what it knows after it applied that, and all hold what was reported. 0: not known.
    /// </summary>
    long AgreedThrough => 0;

    /// <summary>
    /// Whether the members that learn from this one through which configuration they agree have learned this one. If they have not, and
    /// this member closed the view, they would have to agree again without it.
    /// </summary>
    bool HasPassedOn(long agreedThrough) => true;

    /// <summary>
    /// Whether a member was asked whether it is there, and has not answered: it may have failed, which explains why no member is heard.
    /// </summary>
    bool IsAwaitingAnswer => false;

    /// <summary>How long the last exchange with the members near this one took, for diagnostics; zero: there was none.</summary>
    TimeSpan LastExchange => TimeSpan.Zero;

    /// <summary>Packets of the stream have come; once for as many as come together, of whichever streams.</summary>
    void OnActivity(ITrackedStream stream);

    /// <summary>A sender wants to know soon what is held.</summary>
    void OnAckWanted();

    /// <summary>A sender announces what it has sent: perhaps the acknowledgement was lost, so it is sent again.</summary>
    void OnAnnounce(StreamKey stream);

    /// <summary>The sender itself says that it has sent no more: what others reported beyond it is not so.</summary>
    void Retract(StreamKey stream, long sent);

    /// <summary>Members were removed, or have closed the view.</summary>
    void OnMembersChanged();

    /// <summary>
    /// A token, a probe or the reply to one, from a node that is not gone. The body of a token is the scheme's own. A probe was answered.
    /// </summary>
    DropReason OnPacket(in PacketHeader header, NodeKey from);

    /// <summary>This node stood still for so long: what others sent meanwhile is not read yet, and is no silence of theirs.</summary>
    void OnPause(TimeSpan length)
    {
    }

    /// <summary>
    /// A node, of this view or not, reports that it stood still: what it missed meanwhile is not held against it. Called a few times per
    /// second for each node, at most, whatever the truth is.
    /// </summary>
    void OnMemberPaused(NodeKey node)
    {
    }

    /// <summary>Adds the members that notice first when this node is silent, those that are not in the list yet.</summary>
    void AddNeighbours(List<NodeKey> to)
    {
    }

    /// <summary>
    /// Of a stream whose sender is gone: whether all live members are known to hold and to have consumed all that any of them has, and to
    /// agree on what is lost, and since when, with no member unheard. The stream is then finished, if it was not before.
    /// </summary>
    bool TryFinish(ITrackedStream stream, out TimeSpan settledSince)
    {
        settledSince = default;
        return false;
    }

    /// <summary>The stream was given up. Returns what the tracker needs of it if it is resumed; null for nothing.</summary>
    object? Forget(ITrackedStream stream) => null;

    /// <summary>A stream that was given up continues behind its end, with what the tracker needed of it.</summary>
    void Resume(ITrackedStream stream, object? kept)
    {
    }

    /// <summary>The view is closed here.</summary>
    void Close();
}
