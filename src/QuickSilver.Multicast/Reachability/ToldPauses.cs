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
internal sealed class ToldPauses(NodeContext context)
{
    // Beyond these, nodes that are gone and notices that are over are forgotten before another is added.
    private const int MostKept = 64;
    private static readonly TimeSpan Spacing = TimeSpan.FromMilliseconds(200);
    private static readonly TimeSpan Remembered = TimeSpan.FromMinutes(1);

    private readonly Dictionary<(NodeKey Node, ulong Region, uint View), Told> _told = [];

    private sealed class Told
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
        var told = Of((from, header.Region, header.View));
        if (header.Sequence <= told.Number)
        {
            return DropReason.Duplicate;
        }

        if (now - told.At < Spacing)
        {
            return DropReason.RateLimited;
        }

        told.Number = header.Sequence;
        told.At = now;
        context.Counters.PausesTold++;
        if (RepeatedEvent.IsLogged(++told.Count))
        {
            double ago = notice.Ago.TotalMilliseconds;
            MulticastLog.MemberStoodStill(
                context.Log, context.Named(from), notice.Length.TotalMilliseconds, notice.Cause, ago, told.Count);
        }

        return DropReason.None;
    }

    private Told Of((NodeKey Node, ulong Region, uint View) teller)
    {
        if (!_told.TryGetValue(teller, out var told))
        {
            if (_told.Count >= MostKept)
            {
                Forget();
            }

            _told.Add(teller, told = new Told());
        }

        return told;
    }

    private void Forget()
    {
        var old = context.Environment.Now - Remembered;
        foreach (var (teller, told) in _told)
        {
            if (!context.Directory.Contains(teller.Node) || told.At < old)
            {
                _told.Remove(teller);
            }
        }
    }
}
