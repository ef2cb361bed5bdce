using QuickSilver.Membership.Views;

namespace QuickSilver.Multicast.Reachability;

// A silent member is reported to the service again and again, since a report that is not repeated counts no more; but a ring in haste
// would do so forty times a second.
internal sealed class SuspicionPace
{
    private const int MaxKnown = 256;
    private static readonly TimeSpan Least = TimeSpan.FromMilliseconds(250);

    private readonly Dictionary<NodeKey, TimeSpan> _reportedAt = [];

    /// <summary>Whether to report this member now.</summary>
    public bool IsDue(NodeKey member, TimeSpan now)
    {
        if (_reportedAt.TryGetValue(member, out var at) && now - at < Least)
        {
            return false;
        }

        if (_reportedAt.Count >= MaxKnown)
        {
            _reportedAt.Clear();
        }

        _reportedAt[member] = now;
        return true;
    }
}
