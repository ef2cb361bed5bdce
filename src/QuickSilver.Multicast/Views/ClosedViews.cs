using QuickSilver.Core.Alarms;
using QuickSilver.Core.Environment;

namespace QuickSilver.Multicast.Views;

// The views that were closed here, by region the highest: what comes for them is stale, and who still has one open is told that it need
// not wait for this node.
//
// Who has it open asks within seconds, as nodes that do not answer are suspected, and is told once. So after a while it is forgotten,
// and beyond a number the oldest is: regions come and go for as long as a node lives.
internal sealed class ClosedViews
{
    public const int Most = 16_384;

    // A node that was paused for longer was removed meanwhile, and asks nobody.
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
        // One of several of a region goes with the highest, which mostly is the last.
        if (_highest.TryGetValue(region, out uint highest) && highest == view)
        {
            _highest.Remove(region);
        }
    }
}
