using QuickSilver.Membership.Views;

namespace QuickSilver.Multicast.Reachability;

// Limits how often a silent member is reported to the service. A report must be repeated, because it expires, but a busy ring would repeat
// it forty times per second.
internal sealed class SuspicionRateLimit
{
    private const int MaxKnown = 256;
    private static readonly TimeSpan Least = TimeSpan.FromMilliseconds(250);

    private readonly Dictionary<NodeKey, TimeSpan> _reportedAt = [];

    /// <summary>Whether to report the member now.</summary>
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
