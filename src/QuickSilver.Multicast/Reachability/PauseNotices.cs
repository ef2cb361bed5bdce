using QuickSilver.Core.Alarms;
using QuickSilver.Core.Environment;
using QuickSilver.Membership.Views;

namespace QuickSilver.Multicast.Reachability;

// Tells the ring neighbours of a node how long it stood still. Pauses that follow each other closely are told together: a node that has
// many of them sends four notices per second to each neighbour, at most.
internal sealed class PauseNotices(MulticastContext context, Action<List<NodeKey>> neighbours)
{
    // The limit of neighbours that are told at a time; a node has a few in each of its regions.
    private const int MostTold = 64;
    private static readonly TimeSpan Spacing = TimeSpan.FromMilliseconds(250);

    private readonly List<NodeKey> _to = [];
    // Null until pauses follow each other closely.
    private Alarm? _alarm;
    private TimeSpan _untold;
    private TimeSpan _longest;
    private PauseCause _cause;
    private TimeSpan _endedAt;
    private TimeSpan _toldAt = TimeSpan.MinValue / 2;
    private long _number;

    public void Add(in Pause pause)
    {
        var now = context.Environment.Now;
        _untold += pause.Length;
        _endedAt = now;
        if (pause.Length >= _longest)
        {
            _longest = pause.Length;
            _cause = pause.Cause;
        }

        if (now - _toldAt >= Spacing)
        {
            context.Environment.CancelIfMade(_alarm);
            Tell();
        }
        else if (_alarm is not { IsPending: true })
        {
            context.Environment.Schedule(_alarm ??= new Alarm(Tell), Spacing - (now - _toldAt));
        }
    }

    public void Close() => context.Environment.CancelIfMade(_alarm);

    private void Tell()
    {
        var now = context.Environment.Now;
        var notice = new PauseNotice(_untold, now - _endedAt, _cause);
        _toldAt = now;
        _untold = _longest = TimeSpan.Zero;
        _to.Clear();
        neighbours(_to);
        Span<byte> packet = stackalloc byte[PauseNotice.Bytes];
        notice.Write(packet, context.Template(), ++_number);
        int told = 0;
        foreach (var node in _to)
        {
            if (told < MostTold && context.Directory.Find(node) is { } address)
            {
                context.SendControl(packet, address);
                told++;
            }
        }

        if (told > 0)
        {
            MulticastLog.StoodStill(context.Log, notice.Length.TotalMilliseconds, notice.Cause, told);
        }
    }
}
