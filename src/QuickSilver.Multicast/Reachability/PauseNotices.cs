using QuickSilver.Core.Alarms;
using QuickSilver.Core.Environment;
using QuickSilver.Membership.Views;
using QuickSilver.Multicast.Nodes;

namespace QuickSilver.Multicast.Reachability;

// Notifies the ring neighbours of a node how long it stood still. Where packets are sealed, a neighbour is notified for each view in which
// it is one, under the key of that view. Pauses that follow each other closely are reported together: a node that has
// many of them sends four notices per second to each neighbour, at most.
internal sealed class PauseNotices(NodeContext context, Action<List<(NodeKey Node, RegionView? View)>> neighbours)
{
    // The limit of neighbours that are notified at a time; a node has a few in each of its regions.
    private const int MostNotified = 64;
    private static readonly TimeSpan Spacing = TimeSpan.FromMilliseconds(250);

    private readonly List<(NodeKey Node, RegionView? View)> _to = [];
    // Null until pauses follow each other closely.
    private Alarm? _alarm;
    private TimeSpan _unreported;
    private TimeSpan _longest;
    private PauseCause _cause;
    private TimeSpan _endedAt;
    private TimeSpan _notifiedAt = TimeSpan.MinValue / 2;
    private long _number;

    public void Add(in Pause pause)
    {
        var now = context.Environment.Now;
        _unreported += pause.Length;
        _endedAt = now;
        if (pause.Length >= _longest)
        {
            _longest = pause.Length;
            _cause = pause.Cause;
        }

        if (now - _notifiedAt >= Spacing)
        {
            context.Environment.CancelIfMade(_alarm);
            Notify();
        }
        else if (_alarm is not { IsPending: true })
        {
            context.Environment.Schedule(_alarm ??= new Alarm(Notify), Spacing - (now - _notifiedAt));
        }
    }

    public void Close() => context.Environment.CancelIfMade(_alarm);

    private void Notify()
    {
        var now = context.Environment.Now;
        var notice = new PauseNotice(_unreported, now - _endedAt, _cause);
        _notifiedAt = now;
        _unreported = _longest = TimeSpan.Zero;
        _to.Clear();
        neighbours(_to);
        Span<byte> packet = stackalloc byte[PauseNotice.Bytes];
        _number++;
        var notified = new HashSet<NodeKey>();
        int sent = 0;
        foreach (var (node, view) in _to)
        {
            if (sent < MostNotified && context.Directory.Find(node) is { } address)
            {
                notice.Write(packet, view is null ? context.Template() : context.Template(view), _number);
                context.SendControl(packet, address);
                notified.Add(node);
                sent++;
            }
        }

        if (sent > 0)
        {
            MulticastLog.StoodStill(context.Log, notice.Length.TotalMilliseconds, notice.Cause, notified.Count);
        }
    }
}
