using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Nodes;
using QuickSilver.Multicast.Views;

namespace QuickSilver.Multicast.Reachability;

// Reports members that do not answer, each not too often. The membership service determines which of the two nodes is faulty.
internal sealed class Suspicions(NodeContext context)
{
    private SuspicionRateLimit? _limit;

    public void Report(NodeKey member, string reason)
    {
        if ((_limit ??= new SuspicionRateLimit()).IsDue(member, context.Environment.Now))
        {
            context.Membership.ReportSuspect(member, reason);
        }
    }

    /// <summary>
    /// Suspects the leader of a view whose sender has had no acknowledgement for so long. If the sender is not a member of the view, or
    /// all its other members are silent, no other node might notice. The first live member sends the acknowledgements; it detects any
    /// other member that is silent.
    /// </summary>
    public void ReportIfSilent(LiveMembers live, RegionView view, TimeSpan silence)
    {
        int rank = silence < context.Options.AckSilence ? -1 : live.FirstIn(0, live.Ranks);
        if (rank >= 0 && live[rank] != context.Self)
        {
            Report(live[rank], $"no acknowledgement for {silence.TotalSeconds:0.0} s in {view}");
        }
    }
}
