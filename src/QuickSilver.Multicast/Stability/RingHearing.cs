using QuickSilver.Core.Environment;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Stability.Tokens;

namespace QuickSilver.Multicast.Stability;

// Whether all members of a view are heard, as one ring knows it. A ring skips a member that does not answer, and only the members of this
// ring see that in their token. The others learn it through the hierarchy: what a ring found moves up to the root with the tokens, and what
// the root found moves down with them. So every member knows when another member may hold packets that it does not know of.
internal sealed class RingHearing(NodeContext context)
{
    // When the last token was here, and what it said of the view.
    private TimeSpan _seenAt = context.Environment.Now;
    private bool _wasUnheardInView;

    /// <summary>Whether the last token announced that the ring rests, and nothing has happened since.</summary>
    public bool IsResting { get; private set; }

    /// <summary>At the leader: whether the last round did not reach a member under this ring.</summary>
    public bool IsAnyUnheard { get; private set; }

    /// <summary>
    /// Whether a member of the view was not heard, as the last token said, or no token has come for so long that this may be so.
    /// </summary>
    public bool IsUnheardInView => _wasUnheardInView || context.Environment.Now - _seenAt >= Silence;

    private TimeSpan Silence => IsResting ? 2 * context.Options.TokenIntervalResting : context.Options.RingSilence;

    /// <summary>This node stood still for so long: a token that came meanwhile is not read yet.</summary>
    public void OnPause(TimeSpan length) => _seenAt = Pause.LeaveOut(length, _seenAt, context.Environment.Now);

    /// <summary>
    /// Something has happened, so tokens are to come at the shorter intervals. Until now, none was missed. Returns whether the ring rested.
    /// </summary>
    public bool TryWake()
    {
        if (!IsResting)
        {
            return false;
        }

        _wasUnheardInView = IsUnheardInView;
        IsResting = false;
        _seenAt = context.Environment.Now;
        return true;
    }

    /// <summary>Called at each member that the token visits.</summary>
    public void OnVisit(Token token)
    {
        _seenAt = context.Environment.Now;
        IsResting = token.IsResting;
        _wasUnheardInView = token.IsUnheardInView;
    }

    /// <summary>Called at the leader when the token has returned.</summary>
    /// <param name="token">The token.</param>
    /// <param name="isRoot">Whether the ring is the last one.</param>
    /// <param name="hasSkipped">Whether it has skipped a live member.</param>
    public void OnRound(Token token, bool isRoot, bool hasSkipped)
    {
        OnVisit(token);
        IsAnyUnheard = hasSkipped || token.IsAnyUnheard;
        _wasUnheardInView |= isRoot && IsAnyUnheard;
    }
}
