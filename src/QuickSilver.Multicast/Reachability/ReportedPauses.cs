using QuickSilver.Core.Diagnostics;
using QuickSilver.Core.Wire;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Nodes;

namespace QuickSilver.Multicast.Reachability;

// The notices of other nodes that they stood still.
//
// A notice is a claim. It shows that the node lives, and beyond that nothing is trusted: no time in it is computed with. Its effect
// (IStabilityTracker.OnMemberPaused) is bounded for each ring, and a node that sends many notices is heard four times per second in
// each view that its notices are of.
internal sealed class ReportedPauses(NodeContext context)
{
    // Beyond these, nodes that are gone and notices that are over are forgotten before another is added.
    private const int MostKept = 64;
    private static readonly TimeSpan Spacing = TimeSpan.FromMilliseconds(200);
    private static readonly TimeSpan Remembered = TimeSpan.FromMinutes(1);

    private readonly Dictionary<(NodeKey Node, ulong Region, uint View), Report> _reports = [];

    private sealed class Report
    {
        public long Number;
        public long Count;
        public TimeSpan At = TimeSpan.MinValue / 2;
    }

    /// <summary>Returns None if the notice is news.</summary>
    public DropReason OnPacket(in PacketHeader header, NodeKey from)
    {
        if (!context.Directory.Contains(from) || from == context.Self)
        {
            return DropReason.UnknownSender;
        }

        if (!PauseNotice.TryRead(header.Body, out var notice))
        {
            return DropReason.Malformed;
        }

        var now = context.Environment.Now;
        var report = Of((from, header.Region, header.View));
        if (header.Sequence <= report.Number)
        {
            return DropReason.Duplicate;
        }

        if (now - report.At < Spacing)
        {
            return DropReason.RateLimited;
        }

        report.Number = header.Sequence;
        report.At = now;
        context.Counters.PausesReported++;
        if (RepeatedEvent.IsLogged(++report.Count))
        {
            double ago = notice.Ago.TotalMilliseconds;
            MulticastLog.MemberStoodStill(
                context.Log, context.Named(from), notice.Length.TotalMilliseconds, notice.Cause, ago, report.Count);
        }

        return DropReason.None;
    }

    private Report Of((NodeKey Node, ulong Region, uint View) node)
    {
        if (!_reports.TryGetValue(node, out var report))
        {
            if (_reports.Count >= MostKept)
            {
                Forget();
            }

            _reports.Add(node, report = new Report());
        }

        return report;
    }

    private void Forget()
    {
        var old = context.Environment.Now - Remembered;
        foreach (var (node, report) in _reports)
        {
            if (!context.Directory.Contains(node.Node) || report.At < old)
            {
                _reports.Remove(node);
            }
        }
    }
}
