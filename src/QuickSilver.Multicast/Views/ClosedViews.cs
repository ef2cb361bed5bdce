using QuickSilver.Core.Alarms;
using QuickSilver.Core.Environment;

namespace QuickSilver.Multicast.Views;

// The views that were closed here, as the highest view of each region. A packet for such a view is stale, and a node that still has the
// view open is notified that it need not wait for this node.
//
// A node that has it open asks within seconds, because nodes that do not answer are suspected, and is notified once. So an entry is removed
// after some time, and the oldest entry is removed beyond a limit: regions come and go as long as a node lives (I17).
internal sealed class ClosedViews
{
    public const int Most = 16_384;

    // A node that was paused for longer has been removed meanwhile, and asks no more.
    public static readonly TimeSpan Age = TimeSpan.FromMinutes(5);

    private readonly INodeEnvironment _environment;
    private readonly Alarm _forget;
    private readonly Dictionary<ulong, uint> _highest = [];
    private readonly Queue<(ulong Region, uint View, TimeSpan ClosedAt)> _byAge = new();

    public ClosedViews(INodeEnvironment environment)
    {
        _environment = environment;
        _forget = new Alarm(Forget);
    }

    public int Count => _byAge.Count;

    public void Add(ulong region, uint view)
    {
        _highest[region] = Math.Max(_highest.GetValueOrDefault(region), view);
        _byAge.Enqueue((region, view, _environment.Now));
        if (_byAge.Count > Most)
        {
            ForgetOldest();
        }

        if (!_forget.IsPending)
        {
            _environment.Schedule(_forget, Age);
        }
    }

    public bool Contains(ulong region, uint view) => _highest.TryGetValue(region, out uint highest) && view <= highest;

    public void Close() => _environment.Cancel(_forget);

    private void Forget()
    {
        var now = _environment.Now;
        while (_byAge.TryPeek(out var oldest) && oldest.ClosedAt + Age <= now)
        {
            ForgetOldest();
        }

        if (_byAge.TryPeek(out var next))
        {
            _environment.Schedule(_forget, next.ClosedAt + Age - now);
            return;
        }

        _highest.TrimExcess();
        _byAge.TrimExcess();
    }

    private void ForgetOldest()
    {
        var (region, view, _) = _byAge.Dequeue();
        // An older view of a region that has a higher one is removed with the highest, which usually is the last.
        if (_highest.TryGetValue(region, out uint highest) && highest == view)
        {
            _highest.Remove(region);
        }
    }
}
